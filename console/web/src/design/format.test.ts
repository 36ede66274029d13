import { expect, test } from "vitest";
import { digest, initials, span, spanExact, ticking, tokens, took } from "./format";

test("time is short and exact", () => {
  expect([span(9.9), span(2460), span(18_000), span(600_000)]).toEqual(["9 s", "41 min", "5 h", "6 d"]);
  expect([spanExact(318), spanExact(300), spanExact(19)]).toEqual(["5 min 18 s", "5 min", "19 s"]);
  expect([took(11), took(4210), took(125_000)]).toEqual(["11 ms", "4.21 s", "2 min 5 s"]);
  expect(ticking(21)).toBe("0:21");
});

test("tokens are counted with k and M", () => {
  expect([tokens(41), tokens(96_000), tokens(1_210_000), tokens(999_700)]).toEqual(["41", "96 k", "1.21 M", "1.00 M"]);
});

test("a person is two letters", () => {
  expect([initials("Ines Duarte"), initials("admin"), initials("t.wilk"), initials("")]).toEqual(["ID", "AD", "TW", "?"]);
});

test("a digest shows its ends", () => {
  expect(digest(`sha256:4be1${"0".repeat(56)}90c2`)).toBe("sha256 4be1…90c2");
});

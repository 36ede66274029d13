import { expect, test } from "vitest";
import { day, digest, initials, span, spanExact, spanFine, ticking, tokens, took } from "./format";

test("time is short and exact", () => {
  expect([span(9.9), span(2460), span(18_000), span(600_000)]).toEqual(["9 s", "41 min", "5 h", "6 d"]);
  expect([spanExact(318), spanExact(300), spanExact(19)]).toEqual(["5 min 18 s", "5 min", "19 s"]);
  expect([spanExact(532_800), spanExact(7260), spanExact(86_400)]).toEqual(["6 d 4 h", "2 h 1 min", "1 d"]);
  expect([spanFine(0.42), spanFine(12.9)]).toEqual(["0.4 s", "12 s"]);
  expect(day(Date.parse("2025-11-13T23:59:59Z"))).toBe("Thu 13 Nov 2025");
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

import { expect, test } from "vitest";
import { oneLine, saysAll, whole } from "./arguments";

test("one line tells a call by what matters of its input", () => {
  expect(oneLine('{"command":"ls -la"}')).toBe("ls -la");
  expect(oneLine('{"pattern":"TODO","path":"src"}')).toBe("TODO in src");
  expect(oneLine('{"path":"a.txt","content":"hello"}')).toBe("a.txt");
  expect(oneLine('{"depth":2}')).toBe("depth: 2");
});

test("arguments that are no JSON are shown as they came", () => {
  expect(oneLine('{"command": "ls')).toBe('{"command": "ls');
  expect(whole("not json")).toBe("not json");
});

test("the line says all of a short command and not of a long one", () => {
  expect(saysAll('{"command":"ls -la"}')).toBe(true);
  expect(saysAll(JSON.stringify({ command: "x".repeat(61) }))).toBe(false);
  expect(saysAll('{"command":"one\\ntwo"}')).toBe(false);
  expect(saysAll('{"path":"a.txt","content":"hello"}')).toBe(false);
});

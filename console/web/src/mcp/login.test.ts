import { expect, test } from "vitest";
import { loginPlace } from "./login";

test("a login page is a web address, else it is not opened", () => {
  expect(loginPlace("https://auth.example:8443/authorize?x=1")).toBe("auth.example:8443");
  expect(loginPlace("javascript:alert(1)")).toBe("");
  expect(loginPlace("not an address")).toBe("");
});

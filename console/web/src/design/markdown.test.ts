// @vitest-environment jsdom
import { expect, test } from "vitest";
import { blocksOf, htmlOf } from "./markdown";

test("HTML from a model is text, not markup", () => {
  expect(htmlOf("a <img src=x onerror=alert(1)> b")).not.toContain("<img");
  expect(htmlOf("<script>alert(1)</script>")).not.toContain("<script");
});

test("a link leads to the web or to mail, in a tab of its own", () => {
  expect(htmlOf("[x](https://example.org)")).toContain('<a href="https://example.org" target="_blank" rel="noopener noreferrer">x</a>');
  expect(htmlOf("[x](javascript:alert(1))")).not.toContain("javascript:");
  expect(htmlOf("[x](data:text/html,hi)")).not.toContain("data:");
});

test("an image is a link: nothing is loaded by looking", () => {
  const html = htmlOf("![sea](https://example.org/a.png)");
  expect(html).not.toContain("<img");
  expect(html).toContain('href="https://example.org/a.png"');
});

test("code keeps its signs and can be reached by keyboard", () => {
  expect(htmlOf("```html\n<b>&amp;</b>\n```")).toBe('<pre tabindex="0"><code>&lt;b&gt;&amp;amp;&lt;/b&gt;</code></pre>');
});

test("a text falls into its blocks, also where its last one is not finished", () => {
  expect(blocksOf("One.\n\n- a\n- b\n\n```py\nprint(")).toEqual(["One.", "- a\n- b", "```py\nprint("]);
});

/** Markdown from a model as HTML that can do no harm: no raw HTML, no images, no scripts, web and mail links only. */

import DOMPurify from "dompurify";
import { Marked, type Tokens } from "marked";

const LINKS = /^(?:https?|mailto):/i;

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    image: ({ href, text }: Tokens.Image) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
    heading({ tokens, depth }: Tokens.Heading) {
      return `<h3 class="depth-${depth}">${this.parser.parseInline(tokens)}</h3>`;
    },
    code: ({ text }: Tokens.Code) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>`,
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? "☑ " : "☐ "),
  },
});

const purifier = DOMPurify();
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
});

/** The blocks of a text (paragraphs, lists, code), each as it was written. */
export function blocksOf(text: string): string[] {
  return marked.lexer(text).flatMap((token) => (token.type === "space" ? [] : [token.raw]));
}

/** One block as safe HTML. */
export function htmlOf(block: string): string {
  const html = marked.parse(block, { async: false });
  return purifier.sanitize(html, {
    ALLOWED_TAGS: [
      "a", "p", "br", "strong", "em", "del", "code", "pre", "blockquote", "hr", "ul", "ol", "li",
      "h3", "table", "thead", "tbody", "tr", "th", "td",
    ],
    ALLOWED_ATTR: ["class", "href", "start", "align", "tabindex", "title"],
    ALLOWED_URI_REGEXP: LINKS,
    // Every attribute that is no address would else have to look like one.
    ADD_URI_SAFE_ATTR: ["class", "start", "align", "tabindex", "title"],
  });
}

function escaped(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

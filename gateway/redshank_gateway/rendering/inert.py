"""Takes the power out of a model's text: it is shown as it is, nothing more."""

import re

from redshank_gateway.rendering.fences import blocks

# `[words](address)` would hide the address; `<@1>`, `<#1>`, `</x:1>`, `<t:1>`, `<id:x>` would be
# shown as a person, a channel, a command, a time, a place to press.
_POWERS = re.compile(r"\\|\[(?=[^\]\n]*\]\s*\()|\](?=\s*\()|<(?=[@#/:]|a:|t:|id:)")
_CODE = re.compile(r"(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def inert_markdown(text: str) -> str:
    """The text whose links show where they lead, whose mentions are words (F62).

    Code stays as it is: nothing acts in it.
    """
    clean, shown, at = plain(text), [], 0
    for start, end in _code_spans(clean):
        shown += [_POWERS.sub(r"\\\g<0>", clean[at:start]), clean[start:end]]
        at = end
    return "".join([*shown, _POWERS.sub(r"\\\g<0>", clean[at:])])


def plain(text: str) -> str:
    """The text without characters that steer a terminal or turn the direction of writing."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The text's words, a space between them."""
    return " ".join(plain(text).split())


def escaped(text: str) -> str:
    """The text with every sign of Discord's markdown shown as itself."""
    return re.sub(r"[\\*_~`|>#\[\]()<:-]", r"\\\g<0>", text)


def _code_spans(text: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    for block in [*blocks(text), None]:
        end = block.start if block else len(text)
        spans += [found.span() for found in _CODE.finditer(text, at, end)]
        if block:
            spans.append((block.start, block.end))
            at = block.end
    return spans

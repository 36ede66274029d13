"""Reads the characters that markup writes by name or number."""

import html
import re

# A number of thousands of digits is no character, yet too long for Python to read.
_ENDLESS = re.compile(r"&#[0-9]{100,};?")


def unescaped(markup: str) -> str:
    """The text that the markup means; a number that is no character gives U+FFFD."""
    return html.unescape(_ENDLESS.sub("\ufffd", markup))

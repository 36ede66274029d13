"""Cuts what is said of tools into words that can be compared."""

import functools
import re

_MOST_CHARACTERS = 8000
_TOKEN = re.compile(r"\w{1,64}")
# Between the words of a name: snake_case, camelCase, HTTPServer, sha256.
_SEAM = re.compile(
    r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)
# Scripts without spaces between words: read two characters at a time.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_UNSPACED_FIRST = re.compile(f"[{_UNSPACED}]")
_SAY_NOTHING = frozenset(
    _TOKEN.findall(
        "a an and are as at be been but by can could did do does for from had has have he her "
        "here him his how i if in into is it its just let like me my no not of on or our please "
        "she should so some such than that the their them then there these they this those to too "
        "us want was we were what when where which who whom why will with would you your need get "
        "am any all also about using use given specified mcp"
    )
)
_ENDINGS = (
    ("ational", "", 4),
    ("ization", "", 4),
    ("ations", "", 4),
    ("ation", "", 4),
    ("ition", "", 4),
    ("tion", "t", 4),
    ("sion", "s", 4),
    ("ment", "", 4),
    ("ing", "", 3),
    ("edly", "", 3),
    ("ed", "", 3),
    ("ly", "", 4),
    ("ity", "", 4),
    ("ive", "", 4),
    ("al", "", 4),
    ("er", "", 4),
    ("or", "", 4),
)


def words(text: str) -> list[str]:
    """The words of a name or a text, lower case, without their endings or what says nothing.

    Of a text beyond 8000 characters the beginning counts.
    """
    shown = text[:_MOST_CHARACTERS]
    return [word for token in _TOKEN.findall(shown) for word in _cut(token)]


@functools.lru_cache(maxsize=16384)
def _cut(token: str) -> tuple[str, ...]:
    parts = [run for part in _SEAM.split(token) for run in _RUN.findall(part)]
    return tuple(word for part in parts for word in _of_part(part))


def _of_part(part: str) -> tuple[str, ...]:
    if _UNSPACED_FIRST.match(part):
        return tuple(part[at : at + 2] for at in range(len(part) - 1)) or (part,)
    low = part.casefold()
    return () if low in _SAY_NOTHING else (_stem(low),)


def _stem(word: str) -> str:
    word = _singular(word)
    for ending, instead, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word.removesuffix(ending) + instead
            break
    if len(word) > 4 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word


def _singular(word: str) -> str:
    if len(word) <= 3:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word

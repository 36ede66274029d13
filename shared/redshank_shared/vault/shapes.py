"""Recognises credentials by their shape, without knowing them (K62)."""

import re

import msgspec

MASK = "***"

# The words of K62; a prefix such as OPENAI_ or a suffix such as _ID may stand around them.
_WORDS = (
    r"api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|client[-_]?secret|"
    r"auth[-_]?token|authorization|auth|bearer|password|passwd|passphrase|secret|token"
)
_NO_SECRETS = r"(?:true|false|none|null|off|on|yes|no)\b"


class Shape(msgspec.Struct, frozen=True):
    """One shape: looked for only where one of its `hints` stands in the text in lower case.

    `mask` is what a match becomes.
    """

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    mask: str = MASK


def _shape(hints: str, pattern: str, mask: str = MASK, flags: int = 0) -> Shape:
    return Shape(tuple(hints.split()), re.compile(pattern, flags), mask)


# What is a credential wherever it stands, in a program's source as well.
CERTAIN = (
    _shape(
        "private",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!----)){0,16384}+"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?",
        f"-----BEGIN PRIVATE KEY----- {MASK} -----END PRIVATE KEY-----",
    ),
    _shape("eyj", r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    _shape("sk- sk_ rk_", r"\b(?:sk-|[sr]k_(?:live|test)_)(?=[\w-]*\d)[\w-]{16,}"),
    _shape("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\b(?:gh[pousr]|github_pat)_\w{16,}"),
    _shape("glpat-", r"\bglpat-[\w-]{16,}"),
    _shape("xox", r"\bxox[abeoprs]-[\w-]{8,}"),
    _shape("akia asia", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    _shape("aiza", r"\bAIza[\w-]{30,}"),
    _shape("hf_ npm_ whsec_ rs_", r"\b(?:hf|npm|whsec|rs)_(?=[\w-]*\d)[\w-]{24,}"),
    _shape(
        "bearer basic",
        r"\b(bearer|basic)(\s+)(?=[^\s\"']*\d)[\w.~+/=-]{8,}",
        rf"\1\2{MASK}",
        re.IGNORECASE,
    ),
    _shape("://", r"(?<=://)([^\s/:@\"']{0,256}):[^\s/@\"']{1,1024}@", rf"\1:{MASK}@"),
    _shape(
        "token key secret password auth sig",
        rf"([?&;][\w-]{{0,30}}?(?:{_WORDS}|signature|sig)=)[^\s&#\"'<>;]+",
        rf"\1{MASK}",
        re.IGNORECASE,
    ),
    _shape(
        "--",
        rf"(--(?:[a-z0-9]+[-_])*(?:{_WORDS})(?:=|\s+(?=[^\s\"']{{4}})(?=[^\s\"']*\d))[\"']?)"
        r"(?![-$<({])[^\s\"']+",
        rf"\1{MASK}",
        re.IGNORECASE,
    ),
    # An environment as `env` prints it, or a file of variables: no spaces, no code behind.
    _shape(
        "key token secret pass auth bearer",
        rf"((?:{_WORDS.upper()}|(?<![A-Za-z0-9])KEY)(?:_[A-Z0-9]+)*=[\"']?)"
        r"(?![$<({])[^\s\"'`$(){}\[\]<>;,]{6,}+(?![(\[])",
        rf"\1{MASK}",
    ),
    # A setting that holds a literal in quotes, with a digit in it.
    _shape(
        "key token secret pass auth bearer",
        rf"((?:{_WORDS})[\"']?\s{{0,8}}[:=]\s{{0,8}})"
        r"([\"'])(?=[^\"'\n]*\d)(?![$<({])[^\s\"']{8,}\2",
        rf"\1\2{MASK}\2",
        re.IGNORECASE,
    ),
    _shape(
        "authorization x-api-key cookie",
        r"(\b(?:authorization|x-api-key|x-auth-token|(?:set-)?cookie)\s?:\s*(?:[a-z]+\s+)?)"
        r"(?=[^\s]*\d)[^\s\"',]{8,}",
        rf"\1{MASK}",
        re.IGNORECASE,
    ),
)

# What may be one: too eager for a program's source, right for logs.
LIKELY = (
    _shape(
        "bearer basic",
        r"\b(bearer|basic)(\s+)[\w.~+/=-]{8,}",
        rf"\1\2{MASK}",
        re.IGNORECASE,
    ),
    _shape(
        "--",
        rf"(--?(?:[a-z0-9]+[-_])*(?:{_WORDS})(?:=|\s+)[\"']?)(?![-<*])[^\s\"']+",
        rf"\1{MASK}",
        re.IGNORECASE,
    ),
    _shape(
        "key token secret pass auth bearer",
        rf"((?:{_WORDS})[\"']?\s?[=:]\s?[\"']?(?:(?:bearer|basic)\s+)?+)"
        rf"(?!{_NO_SECRETS}|[<*])[^\s\"',;]{{4,}}",
        rf"\1{MASK}",
        re.IGNORECASE,
    ),
)

# A line that holds one of these is shown when it is whole.
BEGINS = re.compile(
    r"://|--|=|:\s|\b(?:bearer|basic|eyJ|sk-|gh[pousr]_|github_pat_|glpat-|xox|AKIA|ASIA|AIza)",
    re.IGNORECASE,
)
KEY_BEGINS = "-----BEGIN "
KEY_ENDS = re.compile("-----END [A-Z0-9 ]{0,60}-----")


def masked_shapes(text: str, shapes: tuple[Shape, ...]) -> str:
    """The text with each of these shapes masked."""
    lower = text.lower()
    for shape in shapes:
        if any(hint in lower for hint in shape.hints):
            text = shape.pattern.sub(shape.mask, text)
    return text

"""Says which names a secret may have."""

import re

from redshank_shared.domain.errors import Invalid

NAMESPACES = ("model", "mcp", "hook", "channel")
OWN_NAMESPACE = "vault"
CHECK_SLOT = f"{OWN_NAMESPACE}.check"
LONGEST_NAME = 200
SHORTEST_VALUE = 6
LONGEST_VALUE = 65536

_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+")


def checked_slot(name: str, field: str = "slot") -> str:
    """The slot's name, if a person may fill it; Invalid says which names there are (K59)."""
    known = ", ".join(f"{each}." for each in NAMESPACES)
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise Invalid(
            f"a slot's name is words of letters, digits, - or _ with dots between them, such as "
            f"model.main, at most {LONGEST_NAME} characters",
            code="slot_name",
            field=field,
        )
    namespace = name.partition(".")[0]
    if namespace == OWN_NAMESPACE:
        raise Invalid(
            f"what begins with {OWN_NAMESPACE}. is the vault's own; begin with one of {known}",
            code="slot_namespace",
            field=field,
        )
    if namespace not in NAMESPACES:
        raise Invalid(
            f"no slot begins with {namespace}.; begin with one of {known}",
            code="slot_namespace",
            field=field,
        )
    return name


def checked_value(value: str, field: str = "value") -> str:
    """The secret itself, if it can be kept out of texts; Invalid never says what it was (F12)."""
    if len(value.strip()) < SHORTEST_VALUE:
        raise Invalid(
            f"a secret has at least {SHORTEST_VALUE} characters, blanks around it apart: a shorter "
            f"one could not be told from ordinary words in output",
            code="secret_too_short",
            field=field,
        )
    if len(value) > LONGEST_VALUE:
        raise Invalid(
            f"a secret has at most {LONGEST_VALUE} characters",
            code="secret_too_long",
            field=field,
        )
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise Invalid(
            "the secret holds a NUL or half a character; send it as it was given to you",
            code="bad_character",
            field=field,
        )
    return value

"""What an approval is bound to beside the digest of its input (F51)."""

import msgspec

SCHEMA = "_schema"


def without_input(bound: str) -> str:
    """What must still hold once a person has edited the input: the tool's schema alone, since all
    else was looked at for the old input. Empty where nothing must.
    """
    if SCHEMA not in bound:
        return ""
    schema = msgspec.json.decode(bound, type=dict[str, msgspec.Raw]).get(SCHEMA)
    return "" if schema is None else msgspec.json.encode({SCHEMA: schema}).decode()

"""What every fact of a log is."""

import msgspec


class Fact(msgspec.Struct, frozen=True, tag_field="kind"):
    """What happened. Never changed once appended."""

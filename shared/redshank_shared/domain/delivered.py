"""Counts what the results of a turn have brought into its context."""

import msgspec

_encoder = msgspec.json.Encoder()


class Delivered(msgspec.Struct, frozen=True):
    """Bytes of UTF-8, of all results of one turn: as they are, then as JSON text (K-83)."""

    output_bytes: int = 0
    envelope_bytes: int = 0

    def plus(self, output: str) -> "Delivered":
        """With one more result."""
        whole = output.encode(errors="replace")
        return Delivered(
            self.output_bytes + len(whole),
            self.envelope_bytes + len(_encoder.encode(whole.decode())),
        )

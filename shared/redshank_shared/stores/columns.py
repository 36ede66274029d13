"""Makes columns of the few kinds that the tables have."""

from sqlalchemy import BigInteger, Column, Double, MetaData, Text

metadata = MetaData()


def text(name: str, *, nullable: bool = False) -> Column[str]:
    """Text of any length."""
    return Column(name, Text, nullable=nullable)


def texts(*names: str) -> list[Column[str]]:
    """A text that is always there, for each name."""
    return [text(name) for name in names]


def number(name: str, *, nullable: bool = False) -> Column[int]:
    """A whole number of 64 bits."""
    return Column(name, BigInteger, nullable=nullable)


def seconds(name: str, *, nullable: bool = False) -> Column[float]:
    """A moment or a span, in seconds."""
    return Column(name, Double, nullable=nullable)


def identity(name: str) -> Column[str]:
    """The text that names a row."""
    return Column(name, Text, primary_key=True, nullable=False)

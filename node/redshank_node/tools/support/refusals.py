"""Turns what the domain refuses into words about an argument."""

import contextlib
from collections.abc import Generator

from redshank_node.tools.tool import BadArguments, Result
from redshank_shared.domain.errors import Invalid


@contextlib.contextmanager
def on_argument(name: str) -> Generator[None]:
    """Whatever is Invalid inside becomes BadArguments that names this argument with the mend."""
    try:
        yield
    except Invalid as refused:
        said = refused.detail
        named = said.startswith(name) or name.rpartition(".")[2] in said.split()
        raise BadArguments(said if named else f"{name}: {said}") from None


def refused(said: str) -> Result:
    """A call that could not do what it was asked; the words go to the model."""
    return Result(said, is_error=True, outcome="error")

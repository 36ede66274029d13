"""An error as HTTP clients meet it."""

from pydantic import BaseModel, ConfigDict

PROBLEM_TYPE = "application/problem+json"


class Problem(BaseModel):
    """`code` is stable; `detail` says the mend; `field` names the input to blame, where one is."""

    model_config = ConfigDict(frozen=True)

    status: int
    code: str
    detail: str
    field: str | None = None

    def encoded(self) -> bytes:
        """The body of the answer."""
        return self.model_dump_json(exclude_none=True).encode()

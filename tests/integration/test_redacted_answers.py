"""Problems that the API answers: a secret that would stand in one is masked."""

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp

from redshank_console.api import problems
from redshank_console.api.redacted import Redacted
from redshank_shared.domain.errors import Invalid
from redshank_shared.vault.redaction import Redactor

SECRET = "canary-in-an-answer"


def application() -> ASGIApp:
    """An app that fails with a secret, or answers with one."""
    app = FastAPI()
    problems.install(app)

    @app.get("/fails")
    async def fails() -> None:
        raise Invalid(f"{SECRET} is no name; take another", field="name")

    @app.get("/answers")
    async def answers() -> dict[str, str]:
        return {"said": "all is well"}

    return Redacted(app, Redactor([SECRET]).of_output)


@pytest.mark.fault("F-12")
async def test_a_problem_s_detail_is_masked_and_stays_a_problem() -> None:
    transport = httpx.ASGITransport(application())
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        answer = await client.get("/fails")
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        assert int(answer.headers["content-length"]) == len(answer.content)
        assert answer.json() == {
            "status": 422,
            "code": "invalid",
            "detail": "*** is no name; take another",
            "field": "name",
        }
        assert (await client.get("/answers")).json() == {"said": "all is well"}
        missing = await client.get("/nowhere")
        assert (missing.status_code, missing.json()["code"]) == (404, "no_such_route")

"""What the operator sets about people holds in a real cluster: ends of approvals, questions."""

import json

import pytest

from tests.fakes.cluster_client import until
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind

TEA = {"question": "Which tea?", "options": [{"label": "green"}, {"label": "black"}]}


@pytest.mark.req("O-10", "K-19", "K-54")
async def test_the_clock_ends_what_nobody_answers_in_time(new_cluster: ClusterMaker) -> None:
    cluster = new_cluster(
        nodes=1,
        settings={
            "REDSHANK_APPROVALS__EXPIRES_SECONDS": "1",
            "REDSHANK_OPERATOR__ENABLED": "true",
            "REDSHANK_OPERATOR__ALLOW_QUESTIONS": "true",
        },
    )
    questions = json.dumps({"questions": [TEA], "expires_after_ms": 500})
    async with cluster.client() as person:
        approval = await person.create("run: echo once >> out.txt")
        operator = await person.create(f"call: ask_operator {questions}")
        user = await person.create(f"call: ask_user_question {questions}")
        logs = {}
        for workstream in (approval, operator, user):

            async def rested(workstream: str = workstream) -> bool | None:
                return (await person.view(workstream))["state"] == "idle" or None

            await until(rested, f"{workstream} rests")
            logs[workstream] = await person.events(workstream)

        (resolved,) = of_kind(logs[approval], "approval.resolved")
        assert (resolved["behavior"], resolved["by"]) == ("deny", "clock")
        assert cluster.lines("out.txt") == []
        assert "nobody answered in time" in of_kind(logs[approval], "call.finished")[0]["output"]
        for workstream in (operator, user):
            (ended,) = of_kind(logs[workstream], "question.answered")
            assert (ended["outcome"], ended["by"]) == ("expired", "clock")
        assert len(of_kind(logs[user], "turn.cancelled")) == 1
        assert of_kind(logs[operator], "turn.cancelled") == []
        assert faults(logs[approval]) == faults(logs[operator]) == {}

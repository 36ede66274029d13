"""What people get wrong against a whole cluster: a clear error with the mend, nothing changed."""

from collections.abc import Iterator

import pytest

from tests.fakes.cluster import Cluster
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import of_kind
from tests.fakes.model_server import Reply, model_server
from tests.fakes.ports import free_port

KEY = "sk-a-key-that-is-wrong-0123456789"
REFUSED = b'{"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}}'


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    maker = ClusterMaker(tmp_path_factory.mktemp("cluster"))
    try:
        yield maker(nodes=1)
    finally:
        maker.close()


@pytest.mark.fault("F50")
async def test_an_approval_that_was_answered_says_by_whom_and_what(cluster: Cluster) -> None:
    async with cluster.client() as person:
        workstream = await person.create("run: echo once >> twice.txt")
        view = await person.wait_for_state(workstream, "waiting")
        request_id = view["pending_approvals"][0]["request_id"]
        assert (await person.answer(workstream, request_id, "allow")).status_code == 200
        await person.wait_for_state(workstream, "idle")
        before = await person.events(workstream)
        for behavior in ("allow", "deny"):
            second = await person.answer(workstream, request_id, behavior)
            problem = second.json()
            assert second.status_code == 409
            assert second.headers["content-type"] == "application/problem+json"
            assert problem["code"] == "approval_resolved"
            assert problem["field"] == "resolutions[0].request_id"
            assert "Allowed by admin at" in problem["detail"]
        assert await person.events(workstream) == before
    assert cluster.lines("twice.txt") == ["once"]


async def test_a_closed_workstream_refuses_a_message_with_the_mend(cluster: Cluster) -> None:
    async with cluster.client() as person:
        workstream = await person.create("run: echo hi", mode="bypassPermissions")
        await person.wait_for_state(workstream, "idle")
        await person.order(workstream, "close")
        before = await person.events(workstream)
        answer = await person.post(f"/v1/workstreams/{workstream}/messages", {"text": "more"})
        assert answer.status_code == 409
        assert answer.json()["code"] == "workstream_closed"
        assert "fork it or create another" in answer.json()["detail"]
        assert await person.events(workstream) == before


async def test_arguments_that_make_no_sense_become_a_result_that_says_so(cluster: Cluster) -> None:
    async with cluster.client() as person:
        workstream = await person.create(
            'call: bash {"comand": "echo hi"}\nread: ../../etc/passwd', mode="bypassPermissions"
        )
        await person.wait_for_state(workstream, "idle")
        results = of_kind(await person.events(workstream), "call.finished")
    assert [result["outcome"] for result in results] == ["refused", "refused"]
    assert "comand" in results[0]["output"]
    assert "workspace" in results[1]["output"]
    assert "root:" not in results[1]["output"]


@pytest.mark.fault("F12")
async def test_a_model_that_cannot_be_asked_fails_the_turn_with_the_setting_to_mend(
    new_cluster: ClusterMaker,
) -> None:
    async with model_server(
        Reply([REFUSED], status=401, content_type="application/json")
    ) as server:
        dead = f"http://127.0.0.1:{free_port()}/v1"
        cluster = new_cluster(
            nodes=1,
            settings={
                **openai("GONE", dead),
                **openai("LOCKED", f"{server.url}/v1"),
                "REDSHANK_MODELS__LOCKED__API_KEY_ENV": "THE_KEY",
                "THE_KEY": KEY,
            },
        )
        async with cluster.client() as person:
            gone = await person.create("hello", model="gone")
            locked = await person.create("hello", model="locked")
            wrong_key = await person.wait_for_state(locked, "failed", seconds=20.0)
            unreachable = await person.wait_for_state(gone, "failed", seconds=45.0)
            logs = str([await person.events(each) for each in (gone, locked)])
        assert len(server.requests) == 1
    assert "models.locked" in wrong_key["detail"]
    assert "key" in wrong_key["detail"]
    assert dead in unreachable["detail"]
    assert "models.gone.base_url" in unreachable["detail"]
    assert KEY not in logs
    assert all(KEY not in process.log.read_text() for process in cluster.processes)


def openai(name: str, url: str) -> dict[str, str]:
    """The variables of a model of this name at this address."""
    return {
        f"REDSHANK_MODELS__{name}__PROVIDER": "openai",
        f"REDSHANK_MODELS__{name}__MODEL": "some-model",
        f"REDSHANK_MODELS__{name}__BASE_URL": url,
    }

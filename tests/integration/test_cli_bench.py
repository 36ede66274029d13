"""What the benches say about themselves."""

import pytest

from redshank_console.cli.bench.cluster import cluster
from redshank_console.cli.connection import Target
from redshank_console.cli.session import Session
from redshank_shared.domain.errors import RedshankError


@pytest.mark.fault("F12")
def test_the_password_of_redis_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    nobody = Session(Target("http://127.0.0.1:9", "a-token"), "table")
    with pytest.raises(RedshankError):
        cluster(nobody, nodes=1, workstreams=1, redis="redis://:a-password@127.0.0.1:9/0")
    said = "".join(capsys.readouterr())
    assert "simulating 1 nodes" in said
    assert "a-password" not in said

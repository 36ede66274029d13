"""no_response, as an agent uses it: the turn ends, nothing is said."""

import pytest

from redshank_node.tools.builtin import no_response
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.artifact_events import OutputEmitted
from tests.contract.artifact_world import ArtifactWorld, said

pytest_plugins = ("tests.contract.artifact_fixtures",)
pytestmark = pytest.mark.req("C-9")


@pytest.mark.parametrize("arguments", [{}, {"reason": "not meant for me"}])
async def test_the_turn_ends_with_an_output_of_no_parts(
    world: ArtifactWorld, arguments: dict[str, str]
) -> None:
    result = await world.call(no_response.TOOL, **arguments)

    assert said(result) == {"ended": True}
    assert world.last_fact() == OutputEmitted("call_7", (), final=True)


async def test_a_message_is_no_argument_of_it(world: ArtifactWorld) -> None:
    with pytest.raises(BadArguments, match="content"):
        await world.call(no_response.TOOL, content="hello")

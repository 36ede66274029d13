"""Bodies that HTTP clients send about skills."""

from typing import Annotated

from pydantic import Field

from redshank_shared.wire.requests import Body, Text, Word

LONGEST_BODY = 100_000
MOST_ARGUMENTS = 50

SkillName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Description = Annotated[Text, Field(max_length=1024)]


class NewSkillArgument(Body):
    """What a skill asks for when it is used."""

    name: Annotated[Word, Field(min_length=1)]
    description: Description = ""
    required: bool = False


class ChangedSkill(Body):
    """A manual skill as it is to be; what is not named is empty from now on."""

    body: Annotated[Text, Field(min_length=1, max_length=LONGEST_BODY)]
    description: Description = ""
    arguments: Annotated[tuple[NewSkillArgument, ...], Field(max_length=MOST_ARGUMENTS)] = ()
    enabled: bool = True


class NewSkill(ChangedSkill):
    """A manual skill to make; it wins over an MCP server's prompt of its name (T-77)."""

    name: SkillName

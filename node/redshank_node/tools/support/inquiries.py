"""What the tools that ask people have in common: questions as a model writes them."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result
from redshank_shared.domain.decide import storable_text
from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.events import Preview
from redshank_shared.domain.question_events import Audience, Inquiry, Option, Question
from redshank_shared.domain.questions import MOST_QUESTIONS, OPTIONS, check_questions

_NAME: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 40,
    "description": "A short name, letters and digits; made up where none is given.",
}
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_QUESTIONS,
            "description": "They are answered together.",
            "items": {
                "type": "object",
                "properties": {
                    "id": _NAME,
                    "question": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 2000,
                        "description": "What you want to know, with all that one must know to say.",
                    },
                    "options": {
                        "type": "array",
                        "minItems": OPTIONS[0],
                        "maxItems": OPTIONS[1],
                        "description": "Likely answers. People may use words of their own.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "id": _NAME,
                                "label": {
                                    "type": "string",
                                    "minLength": 1,
                                    "maxLength": 200,
                                    "description": "The answer in a few words.",
                                },
                                "description": {
                                    "type": "string",
                                    "maxLength": 1000,
                                    "description": "What choosing it means.",
                                },
                            },
                            "required": ["label"],
                            "additionalProperties": False,
                        },
                    },
                    "multi_select": {
                        "type": "boolean",
                        "description": "Whether several options may be chosen. Default false.",
                    },
                },
                "required": ["question", "options"],
                "additionalProperties": False,
            },
        },
        "expires_at_ms": {
            "type": "integer",
            "minimum": 1,
            "description": "Until when it waits, in milliseconds since 1970. Default: for ever.",
        },
        "expires_after_ms": {
            "type": "integer",
            "minimum": 1,
            "maximum": 366 * 86_400_000,
            "description": "How long it waits, instead of expires_at_ms.",
        },
    },
    "required": ["questions"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], audience: Audience) -> Prepared:
    """One to four questions of two to four options, nothing twice, at most one end (K-18)."""
    checked = schema.validated(arguments, PARAMETERS)
    if "expires_at_ms" in checked and "expires_after_ms" in checked:
        raise BadArguments("expires_at_ms and expires_after_ms exclude each other; give one")
    questions = tuple(_question(index, each) for index, each in enumerate(checked["questions"]))
    try:
        check_questions(questions)
        for index, question in enumerate(questions):
            storable_text(_all_words(question), f"questions[{index}]")
    except Invalid as refused:
        raise BadArguments(refused.detail) from None
    inquiry = Inquiry(
        audience,
        questions,
        checked.get("expires_at_ms", 0),
        checked.get("expires_after_ms", 0),
    )
    title = questions[0].text.strip().split("\n", 1)[0][:100]
    return Prepared(checked, Preview(title, "text", _shown(questions)), inquiry=inquiry)


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Never comes to it: the question is recorded in place of the call."""
    return Result("this question was not asked", is_error=True, outcome="error")


def _question(index: int, given: dict[str, Any]) -> Question:
    return Question(
        question_id=given.get("id", f"q{index + 1}"),
        text=given["question"],
        options=tuple(
            Option(
                option_id=each.get("id", f"o{place}"),
                label=each["label"],
                description=each.get("description", ""),
            )
            for place, each in enumerate(given["options"], start=1)
        ),
        multi_select=given.get("multi_select", False),
    )


def _all_words(question: Question) -> str:
    said = [option.label + option.description for option in question.options]
    return "\n".join((question.text, *said))


def _shown(questions: tuple[Question, ...]) -> str:
    lines: list[str] = []
    for question in questions:
        lines.append(question.text)
        lines += [f"- {option.label}" for option in question.options]
    return "\n".join(lines)

"""The page's types, which are written by hand, agree with what the console says and records."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from redshank_console.api.app import api
from redshank_console.bootstrap import Console
from redshank_shared.domain.events import KnownFact
from redshank_shared.settings.load import load

API = Path(__file__).parents[2] / "console/web/src/api"
INTERFACE = re.compile(
    r"^(?:export )?interface (\w+)(?:<\w+>)?(?: extends ([\w, ]+))? \{\n(.*?)^\}", re.M | re.S
)
FACT = re.compile(r'^export type \w+ = Durable<"([\w.]+)">(?: & \{(.*?)\})?;$', re.M | re.S)
FIELD = re.compile(r"^  (\w+)(\??): (.+);$", re.M)
NAMED = re.compile(r"(\w+)\??: ")
REMARK = re.compile(r"/\*\*.*?\*/")
NESTED = re.compile(r"\{[^{}]*\}")
# What the console answers with, by the page's own name for it.
ANSWERS = {
    "WaitFor": "WaitView",
    "Preview": "PreviewView",
    "PendingApproval": "ApprovalView",
    "QuestionOption": "OptionView",
    "QuestionPart": "QuestionPartView",
    "PendingQuestion": "QuestionView",
    "Usage": "UsageView",
    "View": "WorkstreamView",
    "Page": "PageView_WorkstreamView_",
    "Me": "MeView",
    "Overview": "OverviewView",
    "McpCounts": "McpCounts",
    "NodeReport": "NodeReportView",
    "McpServerReport": "McpServerReportView",
    "ClusterNode": "ClusterNodeView",
    "Snapshot": "SnapshotView",
    "LastRun": "redshank_shared__wire__schedule_views__RunView",
    "Schedule": "ScheduleView",
    "Problem": "Problem",
    "InboxItem": "InboxItem",
    "DecidedItem": "DecidedItem",
    "QuestionItem": "QuestionItem",
    "DecisionView": "DecisionView",
    "Audit": "AuditView",
    "Rule": "RuleView",
    "Check": "CheckView",
    "MatrixRow": "MatrixRowView",
    "Matrix": "MatrixView",
    "CellChange": "CellChangeView",
    "Difference": "DifferenceView",
    "Expected": "ResultView",
    "Trial": "TrialView",
    "Profile": "ProfileView",
    "McpOnNode": "McpOnNodeView",
    "McpServer": "McpServerView",
    "McpTotals": "McpTotalsView",
    "McpServers": "McpServersView",
    "McpChange": "McpChangeView",
    "McpTool": "McpToolView",
    "McpResource": "McpResourceView",
    "McpPrompt": "McpPromptView",
    "McpDropped": "McpDroppedView",
    "McpDetail": "McpServerDetailView",
    "McpNodeAnswer": "McpNodeAnswerView",
    "McpOrder": "McpOrderView",
    "McpCatalogEntry": "McpCatalogEntryView",
    "McpSlot": "McpSlotView",
    "McpLogin": "McpLoginView",
    "McpAccount": "McpAccountView",
}
# What it is asked with.
REQUESTS = {
    "Resolution": "NewResolution",
    "NewWorkstream": "NewWorkstream",
    "Answer": "NewAnswer",
    "NewRule": "NewRule",
    "Standpoint": "AskedMatrix",
    "NewMcpServer": "NewMcpServer",
}
# Only others extend it.
PARTS = {"McpCounted"}

# A field's name, to whether it may be left out, whether it may be null.
Fields = dict[str, tuple[bool, bool]]


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("console")
    url = f"sqlite:///{folder}/redshank.db"
    settings = load(None, {"HOME": str(folder), "REDSHANK_DATABASE__URL": url})
    document = json.loads(json.dumps(api(Console(settings).parts).openapi()))
    return dict(document["components"]["schemas"])


def read_fields(body: str) -> Fields:
    return {
        name: (left_out == "?", "null" in re.split(r"\W+", NESTED.sub("", kind)))
        for name, left_out, kind in FIELD.findall(body)
    }


@pytest.fixture(scope="module")
def written() -> dict[str, Fields]:
    """Every interface of the page's API with its fields, inherited ones among them."""
    found: dict[str, Fields] = {}
    for name in ("types", "decision-types", "mcp-types"):
        for title, above, body in INTERFACE.findall((API / f"{name}.ts").read_text()):
            inherited: Fields = {}
            for each in filter(None, above.split(", ")):
                inherited |= found[each]
            found[title] = inherited | read_fields(body)
    return found


def may_be_null(schema: dict[str, Any]) -> bool:
    return any(each.get("type") == "null" for each in schema.get("anyOf", []))


def test_every_type_of_the_page_is_compared(written: dict[str, Fields]) -> None:
    assert set(written) == set(ANSWERS) | set(REQUESTS) | PARTS


def test_the_page_reads_fields_that_answers_have(
    written: dict[str, Fields], schemas: dict[str, Any]
) -> None:
    strange = [
        f"{title}.{field}"
        for title, schema in (ANSWERS | REQUESTS).items()
        for field in written[title]
        if field not in schemas[schema]["properties"]
    ]
    assert strange == []


def test_the_page_expects_null_wherever_an_answer_may_say_it(
    written: dict[str, Fields], schemas: dict[str, Any]
) -> None:
    unexpected = [
        f"{title}.{field}"
        for title, schema in ANSWERS.items()
        for field, (left_out, null) in written[title].items()
        if may_be_null(schemas[schema]["properties"][field]) and not (null or left_out)
    ]
    assert unexpected == []


def test_the_page_sends_all_that_is_required(
    written: dict[str, Fields], schemas: dict[str, Any]
) -> None:
    missing = [
        f"{title}.{field}"
        for title, schema in REQUESTS.items()
        for field in schemas[schema].get("required", ())
        if written[title].get(field, (True, True))[0]
    ]
    assert missing == []


def test_the_page_knows_every_event_with_its_fields() -> None:
    recorded = {
        str(kind.__struct_config__.tag): set(kind.__struct_fields__) for kind in get_args(KnownFact)
    }
    known = {
        kind: set(NAMED.findall(NESTED.sub("", REMARK.sub("", body))))
        for kind, body in FACT.findall((API / "events.ts").read_text())
    }
    assert set(known) == set(recorded)
    strange = {kind: names - recorded[kind] for kind, names in known.items()}
    assert {kind: names for kind, names in strange.items() if names} == {}

"""The pages of decisions: what waits for a person, what agents may do, why it was decided so."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.people import LOOKS, People, row, shot, signed_in, turn_to, wrong_on

WHICH = (
    'call: ask_user_question {"questions": [{"question": "Which reading stands for 02:00?", '
    '"options": [{"label": "Both, marked A and B", "description": "745 rows."}, '
    '{"label": "Only the first", "description": "744 rows, as published until now."}]}]}'
)
SEVERAL = (
    'call: ask_user_question {"questions": [{"question": "Which stations?", "multi_select": true, '
    '"options": [{"label": "Cuxhaven"}, {"label": "Husum"}, {"label": "Emden"}]}, '
    '{"question": "When?", "options": [{"label": "Tonight"}, {"label": "Tomorrow"}]}]}'
)
PLAN = (
    'call: exit_plan_mode {"plan": "# Mend October\\n\\n1. Read the log\\n2. Change the **key**"}'
)


@pytest.mark.parametrize("look", LOOKS)
def test_the_inbox_shows_what_each_call_would_do(
    browser: Browser, clear: People, look: tuple[str, int, int]
) -> None:
    change = '"old_string": "local(at)", "new_string": "utc(at)"'
    mends = f'call: edit_file {{"path": "backfill.py", {change}}}'
    made = [
        clear.works("marsh-report", "run: git bisect run make test-one T=test_lease"),
        clear.works("backfill", mends),
        clear.works("october", PLAN, mode="plan"),
    ]
    for workstream in made:
        clear.waits(workstream)
    with signed_in(browser, clear, look) as page:
        turn_to(page, "approvals")
        expect(row(page, "marsh-report")).to_contain_text("git bisect")
        assert wrong_on(page) == []
        shot(page, "approvals", look)
        row(page, "backfill").click()
        diff = page.get_by_role("group", name="Change to backfill.py", exact=False)
        expect(diff).to_contain_text("utc(at)")
        assert wrong_on(page) == []
        shot(page, "approvals-diff", look)
        turn_to(page, "approvals")
        row(page, "october").click()
        expect(page.get_by_role("group", name="The plan")).to_contain_text("Change the key")
        assert wrong_on(page) == []
        shot(page, "approvals-plan", look)
        page.get_by_role("button", name="Always").click()
        expect(page.get_by_role("button", name="For me, everywhere")).to_be_visible()
        assert wrong_on(page) == []
        shot(page, "approvals-always", look)


@pytest.mark.parametrize("look", LOOKS)
def test_what_is_decided_is_listed_with_who_decided(
    browser: Browser, clear: People, look: tuple[str, int, int]
) -> None:
    for name, behavior in (("tide-table", "allow"), ("tidy-up", "deny")):
        workstream = clear.works(name, f"run: echo {name}")
        view = clear.waits(workstream)
        request = view["pending_approvals"][0]["request_id"]
        answer = {"request_id": request, "behavior": behavior, "reason": "as agreed"}
        clear.ask(f"/v1/workstreams/{workstream}/approvals", {"resolutions": [answer]})
    with signed_in(browser, clear, look) as page:
        turn_to(page, "decided")
        listed = page.get_by_role("list", name="Decided last first").get_by_role("listitem")
        expect(listed.filter(has_text="tide-table").first).to_contain_text("allowed")
        expect(listed.filter(has_text="tidy-up").first).to_contain_text("denied")
        listed.filter(has_text="tidy-up").first.click()
        expect(page.get_by_role("status").filter(has_text="denied this")).to_contain_text(
            "as agreed"
        )
        assert wrong_on(page) == []
        shot(page, "approvals-decided", look)


@pytest.mark.parametrize("look", LOOKS)
def test_questions_are_shown_with_their_options(
    browser: Browser, clear: People, look: tuple[str, int, int]
) -> None:
    one = clear.works("tide-gauge", WHICH)
    clear.waits(one)
    clear.waits(clear.works("stations", SEVERAL))
    with signed_in(browser, clear, look) as page:
        turn_to(page, "questions")
        expect(row(page, "tide-gauge")).to_contain_text("Which reading")
        row(page, "stations").click()
        expect(page.get_by_role("group", name="Which stations?")).to_be_visible()
        assert wrong_on(page) == []
        shot(page, "questions", look)
        turn_to(page, "questions/qst_gone")
        expect(page.get_by_text("No question of this id waits.")).to_be_visible()
        turn_to(page, f"workstreams/{one}")
        expect(page.get_by_role("radio", name="Only the first")).to_be_visible()
        page.keyboard.press("2")
        expect(page.get_by_role("radio", name="Only the first")).to_be_checked()
        assert wrong_on(page) == []
        shot(page, "question", look)


@pytest.mark.req("K-47", "K-48", "B-5")
@pytest.mark.parametrize("look", LOOKS)
def test_the_permissions_page_says_what_is_decided_and_why(
    browser: Browser, clear: People, look: tuple[str, int, int]
) -> None:
    clear.ask("/v1/permissions/rules", {"scope": "project", "pattern": "bash", "decision": "ask"})
    locked = {
        "scope": "user",
        "pattern": "mcp__github__delete_*",
        "decision": "deny",
        "locked": True,
    }
    clear.ask("/v1/permissions/rules", locked)
    with signed_in(browser, clear, look) as page:
        turn_to(page, "permissions")
        cell = page.get_by_role("button", name="edit_file, acceptEdits: allow", exact=False)
        cell.click()
        expect(
            page.get_by_text("edit_file in acceptEdits").locator("visible=true").first
        ).to_be_visible()
        # What stands half under the page's head counts as a small target.
        page.get_by_role("main").evaluate("main => main.scrollTo(0, 0)")
        assert wrong_on(page) == []
        shot(page, "permissions", look)
        turn_to(page, "permissions?view=rules")
        project = page.get_by_role("region", name="Project")
        expect(project.get_by_role("listitem").filter(has_text="bash")).to_contain_text("ask")
        assert wrong_on(page) == []
        shot(page, "permissions-rules", look)
        turn_to(page, "permissions?view=compare")
        policy = (
            '[[rule]]\nscope = "project"\npattern = "bash"\ndecision = "deny"\n\n'
            '[[rule]]\nscope = "user"\npattern = "write_file"\ndecision = "allow"\n\n'
            '[[expect]]\ntool = "bash"\ndecision = "deny"\n\n'
            '[[expect]]\ntool = "read_file"\ndecision = "ask"\n'
        )
        page.get_by_label("Policy to compare", exact=False).fill(policy)
        page.get_by_role("button", name="Compare").click()
        figures = page.get_by_role("region", name="The difference in figures")
        expect(figures).to_contain_text("1 fails")
        expect(page.get_by_role("row").filter(has_text="write_file")).to_contain_text("allow")
        assert wrong_on(page) == []
        shot(page, "permissions-compare", look)


@pytest.mark.req("K-45", "B-6")
@pytest.mark.parametrize("look", LOOKS)
def test_every_decided_call_says_why(
    browser: Browser, clear: People, look: tuple[str, int, int]
) -> None:
    mine = clear.works("why", "read: backfill.py\nrun: echo why > why.txt", mode="acceptEdits")
    view = clear.waits(mine)
    answer = {"request_id": view["pending_approvals"][0]["request_id"], "behavior": "allow"}
    clear.ask(f"/v1/workstreams/{mine}/approvals", {"resolutions": [answer]})
    clear.rests(mine)
    with signed_in(browser, clear, look) as page:
        turn_to(page, f"workstreams/{mine}")
        page.get_by_role("button", name="allow by AD: why?", exact=False).click()
        why = page.get_by_role("dialog", name="Why allow")
        expect(why).to_contain_text("Allowed by admin, for this call only")
        expect(why).to_contain_text("Hooks")
        assert wrong_on(page) == []
        shot(page, "why", look)
        page.keyboard.press("Escape")
        if look[1] < 721:
            page.get_by_role("button", name="Facts", exact=True).click()
        page.get_by_role("tab", name="Audit").click()
        decisions = page.get_by_role("list", name="Decisions, newest first")
        expect(decisions.get_by_role("listitem")).to_have_count(2)
        expect(decisions.get_by_role("listitem").first).to_contain_text("allowed by admin")
        assert wrong_on(page) == []
        shot(page, "audit", look)

"""What people do on the pages of decisions: answer, grant, revoke, try."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.people import DESK, PHONE, People, row, shot, signed_in, turn_to, wrong_on

OPTIONS = '"options": [{"label": "Both"}, {"label": "Only the first"}]'
WHICH = f'{{"question": "Which reading stands?", {OPTIONS}}}'
SEVERAL = (
    '{"question": "Which stations?", "multi_select": true, '
    '"options": [{"label": "Cuxhaven"}, {"label": "Husum"}, {"label": "Emden"}]}'
)


@pytest.mark.req("K-50", "K-51", "K-52")
def test_the_inbox_is_answered_by_keyboard(browser: Browser, clear: People) -> None:
    once = clear.works("tide-once", "run: echo once > once.txt")
    clear.waits(once)
    more = clear.works("tide-more", "run: echo more > more.txt\nthen\nrun: echo again >> more.txt")
    clear.waits(more)
    denied = clear.works("tide-denied", "run: echo no > denied.txt")
    clear.waits(denied)
    with signed_in(browser, clear) as page:
        badge = page.get_by_role("navigation", name="Main").get_by_role("link", name="Approvals")
        expect(badge).to_contain_text("3 need you")
        page.keyboard.press("g")
        page.keyboard.press("a")
        expect(page.get_by_role("region", name="bash in tide-once")).to_be_visible()
        page.keyboard.press("a")
        expect(page.get_by_role("region", name="bash in tide-more")).to_be_visible()
        clear.rests(once)
        expect(row(page, "tide-once")).to_contain_text("answered")
        expect(badge).to_contain_text("2 need you")
        page.wait_for_timeout(500)
        page.keyboard.press("w")
        expect(page.get_by_role("region", name="bash in tide-denied")).to_be_visible()
        clear.rests(more)
        page.keyboard.press("d")
        # Its first letters are keys of other answers, and follow at once.
        page.keyboard.type("write it to the log instead")
        page.keyboard.press("Enter")
        expect(badge).not_to_contain_text("need you")
        clear.rests(denied)
    assert (clear.cluster.workspace / "once.txt").exists()
    assert clear.cluster.lines("more.txt") == ["more", "again"]
    assert not (clear.cluster.workspace / "denied.txt").exists()
    audits = clear.look(f"/v1/workstreams/{denied}/permission-audits")["items"]
    assert audits[0]["reason"] == "write it to the log instead"


@pytest.mark.req("B-33")
def test_a_viewer_sees_what_waits_and_cannot_answer(browser: Browser, clear: People) -> None:
    clear.waits(clear.works("for-others", "run: echo seen"))
    with signed_in(browser, clear, token=clear.viewer) as page:
        turn_to(page, "approvals")
        detail = page.get_by_role("region", name="bash in for-others")
        expect(detail).to_contain_text("You can read this, not answer it")
        expect(detail.get_by_role("button", name="Allow once")).to_be_disabled()
        expect(row(page, "for-others")).to_contain_text("not yours to answer")
        badge = page.get_by_role("navigation", name="Main").get_by_role("link", name="Approvals")
        expect(badge).not_to_contain_text("need you")
        page.keyboard.press("a")
        assert wrong_on(page) == []
        shot(page, "approvals-viewer", DESK)
        turn_to(page, "permissions?view=rules")
        expect(page.get_by_role("button", name="Add rule")).to_be_disabled()
    assert clear.look("/v1/approvals")["total"] == 1


@pytest.mark.fault("F1")
def test_an_answered_one_says_who_decided_and_leaves_nothing_to_do(
    browser: Browser, clear: People
) -> None:
    shared = clear.works("shared", "run: echo shared > shared.txt")
    clear.waits(shared)
    with signed_in(browser, clear) as page:
        turn_to(page, "approvals")
        detail = page.get_by_role("region", name="bash in shared")
        expect(detail.get_by_role("button", name="Allow once")).to_be_enabled()
        clear.answer(shared, clear.operator)
        expect(detail).to_contain_text(re.compile(r"olaf allowed this for this call, \d+ s ago"))
        expect(detail).to_contain_text("It ran on node-1 and ended: ok.")
        expect(detail).to_contain_text("Nothing is left to decide.")
        expect(detail.get_by_role("button", name="Allow once")).to_have_count(0)
        assert wrong_on(page) == []
        shot(page, "approvals-answered", DESK)
        call = clear.look(f"/v1/workstreams/{shared}/permission-audits")["items"][0]["call_id"]
    with signed_in(browser, clear) as page:
        turn_to(page, f"approvals/{call}")
        expect(page.get_by_role("region", name="A call that is decided")).to_contain_text(
            "olaf allowed this"
        )


@pytest.mark.req("K-51")
def test_an_edited_input_runs_in_place_of_what_was_asked(browser: Browser, clear: People) -> None:
    edited = clear.works("edited", "run: echo asked > edited.txt")
    clear.waits(edited)
    with signed_in(browser, clear) as page:
        turn_to(page, "approvals")
        page.get_by_role("button", name="Edit input").click()
        field = page.get_by_role("textbox", name="Input of bash")
        field.fill("no json")
        expect(page.get_by_role("alert").filter(has_text="no JSON object")).to_be_visible()
        expect(page.get_by_role("button", name="Allow once")).to_be_disabled()
        field.fill('{"command": "echo mended > edited.txt"}')
        expect(page.get_by_text("covers the input as you edited it")).to_be_visible()
        assert wrong_on(page) == []
        shot(page, "approvals-edited", DESK)
        page.get_by_role("button", name="Allow once").click()
        clear.rests(edited)
        turn_to(page, f"workstreams/{edited}")
        page.get_by_role("button", name="allow by AD: why?").click()
        expect(page.get_by_role("dialog", name="Why allow")).to_contain_text("as edited")
    assert clear.cluster.lines("edited.txt") == ["mended"]


@pytest.mark.req("K-52")
def test_always_makes_a_rule_that_can_be_revoked(browser: Browser, clear: People) -> None:
    first = clear.works("first", "run: echo 1 > first.txt")
    clear.waits(first)
    with signed_in(browser, clear) as page:
        turn_to(page, "approvals")
        expect(page.get_by_role("region", name="bash in first")).to_be_visible()
        page.keyboard.press("Shift+A")
        expect(page.get_by_role("button", name="For me, everywhere")).to_be_focused()
        page.keyboard.press("Enter")
        clear.rests(first)
        clear.rests(clear.works("second", "run: echo 2 > second.txt"))
        assert clear.cluster.lines("second.txt") == ["2"]
        turn_to(page, "permissions?view=granted")
        grant = page.get_by_role("row").filter(has_text="bash")
        expect(grant).to_contain_text("user admin")
        assert wrong_on(page) == []
        shot(page, "permissions-granted", DESK)
        grant.get_by_role("button", name="Revoke bash for admin").click()
        expect(page.get_by_text("Nothing is granted.")).to_be_visible()
    clear.waits(clear.works("third", "run: echo 3 > third.txt"))


@pytest.mark.req("K-40")
def test_what_one_workstream_was_allowed_stands_beside_its_matrix(
    browser: Browser, clear: People
) -> None:
    own = clear.works("own-rules", "run: echo own")
    clear.waits(own)
    clear.answer(own, scope="workstream")
    clear.rests(own)
    with signed_in(browser, clear) as page:
        turn_to(page, "permissions")
        page.get_by_role("combobox", name="workstream").select_option("own-rules")
        expect(page.get_by_role("button", name="bash, default: allow")).to_be_visible()
        page.get_by_role("link", name="Rules").click()
        rules = page.get_by_role("region", name="Workstream")
        expect(rules.get_by_role("listitem")).to_have_text(re.compile("bash.*from an approval"))
        page.get_by_role("link", name="Granted").click()
        page.get_by_role("button", name="Revoke bash for the chosen workstream").click()
        expect(page.get_by_text("Nothing is granted.")).to_be_visible()
    clear.ask(f"/v1/workstreams/{own}/messages", {"text": "run: echo again"})
    clear.waits(own)


@pytest.mark.req("K-51")
def test_an_edit_that_the_tool_cannot_take_is_refused(browser: Browser, clear: People) -> None:
    wrong = clear.works("wrong", "write: wrong.txt one")
    clear.waits(wrong)
    with signed_in(browser, clear) as page:
        turn_to(page, f"workstreams/{wrong}")
        page.get_by_role("button", name="Edit input").click()
        page.get_by_role("textbox", name="Input of write_file").fill('{"path": "wrong.txt"}')
        page.get_by_role("button", name="Allow once").click()
        clear.rests(wrong)
        expect(page.get_by_role("list", name="Events")).to_contain_text("refused")
    assert clear.cluster.lines("wrong.txt") == []


def test_a_rule_is_added_with_its_reach_said_and_removed(browser: Browser, clear: People) -> None:
    with signed_in(browser, clear) as page:
        turn_to(page, "permissions?view=rules")
        page.get_by_role("button", name="Add to project").click()
        dialog = page.get_by_role("dialog", name="Add rule")
        dialog.get_by_label("Tools").fill("bsh")
        dialog.get_by_role("button", name="deny", exact=True).click()
        dialog.get_by_label("Locked", exact=False).check()
        dialog.get_by_role("button", name="Add rule").click()
        expect(dialog.get_by_label("Tools")).to_have_attribute("aria-invalid", "true")
        expect(dialog).to_contain_text("bash")
        assert wrong_on(page) == []
        shot(page, "permissions-add", DESK)
        dialog.get_by_label("Tools").fill("bash")
        dialog.get_by_role("button", name="Add rule").click()
        expect(dialog).to_be_hidden()
        rule = page.get_by_role("region", name="Project").get_by_role("listitem")
        expect(rule).to_contain_text("locked")
        turn_to(page, "permissions")
        denied = page.get_by_role("button", name="bash, bypassPermissions: deny")
        denied.focus()
        expect(page.get_by_role("region", name="Why")).to_contain_text("locked project rule bash")
        page.keyboard.press("ArrowUp")
        expect(page.get_by_role("region", name="Why")).not_to_contain_text("bash in")
        turn_to(page, "permissions?view=rules")
        page.get_by_role("button", name="Remove the rule bash deny").click()
        page.get_by_role("button", name="Remove this rule").click()
        expect(rule).to_have_count(0)


@pytest.mark.req("K-47")
def test_an_allow_of_everything_is_confirmed_first(browser: Browser, clear: People) -> None:
    with signed_in(browser, clear) as page:
        turn_to(page, "permissions")
        page.get_by_role("button", name="Add rule").click()
        dialog = page.get_by_role("dialog", name="Add rule")
        dialog.get_by_label("Tools").fill("*")
        dialog.get_by_role("button", name="allow", exact=True).click()
        dialog.get_by_role("button", name="Add rule").click()
        expect(dialog.get_by_role("alert")).to_contain_text("lies above every built-in ask")
        assert clear.look("/v1/permissions/rules")["total"] == 0
        dialog.get_by_role("button", name="Add it all the same").click()
        expect(dialog).to_be_hidden()
    assert clear.look("/v1/permissions/rules")["total"] == 1


@pytest.mark.req("K-47")
def test_a_call_is_tried_without_being_made(browser: Browser, clear: People) -> None:
    with signed_in(browser, clear) as page:
        turn_to(page, "permissions")
        page.get_by_label("Tool", exact=True).fill("bash")
        page.get_by_label("Mode", exact=True).select_option("dontAsk")
        page.get_by_label("Input", exact=True).fill('{"command": "ls"}')
        page.keyboard.press("Control+Enter")
        why = page.get_by_role("region", name="Why")
        expect(why).to_contain_text("bash in dontAsk")
        expect(why).to_contain_text("deny")
        expect(why).to_contain_text("not run in a dry run")
    assert clear.look("/v1/workstreams?state=running")["total"] == 0


@pytest.mark.req("K-54")
def test_questions_are_answered_by_digits(browser: Browser, clear: People) -> None:
    asked = clear.works("asked", f'call: ask_user_question {{"questions": [{WHICH}]}}')
    clear.waits(asked)
    with signed_in(browser, clear) as page:
        turn_to(page, f"workstreams/{asked}")
        expect(page.get_by_role("radio", name="Both")).to_be_visible()
        page.keyboard.press("1")
        page.keyboard.press("2")
        page.keyboard.press("Control+Enter")
        clear.rests(asked)
        expect(page.get_by_role("list", name="Events")).to_contain_text("Only the first")
        told = clear.look(f"/v1/workstreams/{asked}/history")["items"]
    assert any("Only the first" in each["text"] for each in told if each["role"] == "tool")


@pytest.mark.req("K-54")
def test_several_questions_are_answered_together_in_the_inbox(
    browser: Browser, clear: People
) -> None:
    several = clear.works(
        "several",
        f'call: ask_user_question {{"questions": [{SEVERAL}, {WHICH}], '
        '"expires_after_ms": 3600000}',
    )
    clear.waits(several)
    with signed_in(browser, clear) as page:
        turn_to(page, "questions")
        expect(page.get_by_role("region", name="Question in several")).to_contain_text("expires in")
        page.get_by_role("checkbox", name="Cuxhaven").check()
        page.get_by_role("checkbox", name="Emden").check()
        answer = page.get_by_role("button", name=re.compile("^Answer"))
        expect(answer).to_be_disabled()
        page.get_by_role("group", name="Which reading stands?").get_by_role("textbox").fill("Both")
        answer.click()
        clear.rests(several)
        said = page.get_by_role("region", name="Question in several")
        expect(said).to_contain_text("admin answered: Cuxhaven, Emden; “Both”.")


@pytest.mark.req("K-31")
def test_an_accepted_plan_ends_plan_mode(browser: Browser, clear: People) -> None:
    plan = clear.works("plan", 'call: exit_plan_mode {"plan": "# Mend\\n\\n1. Read"}', mode="plan")
    clear.waits(plan)
    with signed_in(browser, clear) as page:
        turn_to(page, f"workstreams/{plan}")
        expect(page.locator("header").get_by_text("plan mode")).to_be_visible()
        expect(page.get_by_role("group", name="The plan")).to_contain_text("Mend")
        page.get_by_role("button", name="Allow once").click()
        clear.rests(plan)
        expect(page.get_by_text("plan accepted")).to_be_visible()
        expect(page.locator("header").get_by_text("plan mode")).to_have_count(0)


def test_on_a_phone_deny_opens_the_word_to_the_agent(browser: Browser, clear: People) -> None:
    phone = clear.works("phone", "run: echo phone > phone.txt")
    clear.waits(phone)
    with signed_in(browser, clear, PHONE) as page:
        badge = page.get_by_role("navigation", name="Main, short")
        badge.get_by_role("link", name="Approvals").click()
        row(page, "phone").click()
        word_to_the_agent(page, "not on this node")
        clear.rests(phone)
        expect(page.get_by_role("heading", level=1, name="Approvals")).to_be_visible()
    audit = clear.look(f"/v1/workstreams/{phone}/permission-audits")["items"][0]
    assert (audit["resolution"], audit["reason"]) == ("deny", "not on this node")


def word_to_the_agent(page: Page, word: str) -> None:
    page.get_by_role("button", name="Deny").click()
    field = page.get_by_label("A word to the agent", exact=False)
    expect(field).to_be_focused()
    shot(page, "approvals-deny", PHONE)
    field.fill(word)
    page.get_by_role("button", name="Deny this call").click()

"""The last fence before the shell: destroyers are refused, secrets stay behind."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redshank_node.tools.support.commands.environment import scrubbed
from redshank_node.tools.support.danger.judging import objection

REFUSED = [
    "rm -rf /",
    "rm  -rf   /",
    "rm --recursive --force /",
    "rm -rf --no-preserve-root /",
    "rm / -rf",
    "/bin/rm -rf /",
    "'rm' '-rf' '/'",
    "rm -r\\\nf /",
    "rm -rf /*",
    "rm -rf //",
    "rm -rf /tmp/../",
    'rm -rf "$HOME"',
    "rm -rf /usr /lib/xorg",
    "cd / && rm -rf *",
    "sudo rm -rf ~",
    "env FOO=bar rm -rf /",
    "nice -n 10 rm -rf ~",
    "timeout --signal=KILL 5 rm -rf /",
    "command rm -rf /",
    "eval 'rm -rf' /",
    'sh -ec "cd /; rm -rf -- *"',
    "git status && rm -rf /",
    "ls\nrm -rf /",
    "dd if=/dev/zero of=/dev/sda bs=1M",
    "mkfs.ext4 /dev/sdb1",
    "cat img > /dev/sda",
    "tee /dev/sdb < img",
    ":(){ :|:& };:",
    "chown -R nobody: /usr",
    "find / -delete",
    "shutdown -h now",
]
PASSED = [
    'rm -rf "${OUT:?}/"*',
    "rm -rf /tmp/build",
    "rm -rf ~/.cache/pip",
    "rm -rf \uff0f",
    "find . -name '*.o' | xargs rm -f",
    "ssh box 'rm -rf /srv/app/releases/41'",
    'echo "rm -rf /"',
    'git commit -m "guard: never run rm -rf / again"',
    "grep -rn 'rm -rf /' docs/",
    "cat > notes.md <<'EOF'\nrm -rf /\n:(){ :|:& };:\nEOF",
    "echo asphalt",
    "aws ec2 run-instances --instance-initiated-shutdown-behavior terminate",
    "git log --grep='dd if=/dev/zero of=/dev/sda'",
    "dd if=/dev/sda of=backup.img",
    "make > /dev/null 2>&1",
    'retry() { "$@" || "$@"; }; retry make test',
    "chown -R me ./x",
    "find . -name '*.pyc' -delete",
    "find-delete foo",
    "git reset --hard && git push --force",
    "echo 'unfinished",
]


@pytest.mark.req("T-20")
@pytest.mark.parametrize("command", REFUSED)
def test_a_command_that_wipes_a_machine_is_refused(command: str) -> None:
    assert objection(command) is not None


@pytest.mark.req("T-20")
@pytest.mark.parametrize("command", PASSED)
def test_a_command_that_only_looks_like_one_passes(command: str) -> None:
    assert objection(command) is None


_PIECES = st.sampled_from(
    [
        *("rm", " -rf", " /", " $X", "${X:-", "}", "$(", "`", "'", '"', "\\", "\n", ";", "|", "&"),
        *("(", ")", "<<EOF\n", "EOF\n", "<(", "{", "for d in ", "do ", "done", "case x in ", "a) "),
        *(" ;;", "esac", "f() ", "$((", "))", "<<< ", "> ", "[[ ", "]]", " #", "$'\\x2f", " x=1 "),
        *("bash -c ", "eval ", "xargs ", "find / ", "cd / ", "{a,b}", "\u2013", "\x00", "*", "~"),
        *("a=(", "${a[@]}", "@(", "${X%", "${!X", " > f", "sh f", "python -c ", "while ", "shift;"),
        *("git ", "kill ", "parallel ", "tee f", "printf -v ", "read ", "ssh h ", "tar ", "time "),
        *("crontab -", "env -", "coproc ", "chmod ", "mv -t ", "dd of=", "awk ", "declare ", "-c"),
    ]
)


@pytest.mark.fault("F34")
@given(st.lists(_PIECES, max_size=30).map("".join))
def test_any_line_is_judged_one_way_or_the_other(line: str) -> None:
    assert objection(line) is None or objection(line) != ""


RUNS = [
    *("bash -c {quoted}", "sh -xec {quoted}", "eval {quoted}", "echo {quoted} | sh", "ls; {line}"),
    *("printf '%s\\n' {quoted} | bash -s", "{{ {line}\n}}", "if true; then {line}\nfi"),
    *("for i in 1 2; do {line}\ndone", "f() {{ {line}\n}}; f", 'echo "$({line}\n)"', "{line} &"),
    *("case x in x) {line}\n;; esac", "trap {quoted} EXIT", "[[ -n x ]] && {line}"),
    *("ssh box {quoted}", "find . -exec sh -c {quoted} \\;", "su -c {quoted}"),
    *("echo {quoted} > s.sh; sh s.sh", "diff <({line}\n) x", 'x={quoted}; eval "$x"'),
    *("source <(echo {quoted})", "ls # note\n{line}", "bash <<< {quoted}", "a=(b c); {line}"),
    "cat <<Q >/dev/null\ntext\nQ\n{line}",
]
NAMES = [
    *("echo {quoted}", "git commit -m {quoted}", "grep {quoted} x", "cat > n <<'Z'\n{line}\nZ"),
    *("printf '%s' {quoted} > n.txt", "y={quoted}", '[ "$y" = {quoted} ]', "read y <<< {quoted}"),
    *('for w in {quoted}; do echo "$w"; done', 'a=({quoted}); echo "${{a[@]}}"'),
]
DESTROYERS = st.sampled_from(
    ["rm -rf /", 'rm -rf "$HOME"/*', "cat x > /dev/sda", "shutdown now", "find / -delete"]
)


def wrapped(line: str, around: list[str]) -> str:
    for each in around:
        line = each.format(line=line, quoted=shlex.quote(line))
    return line


@pytest.mark.fault("F34")
@given(DESTROYERS, st.lists(st.sampled_from(RUNS), max_size=3))
def test_a_destroyer_is_found_wherever_it_runs(line: str, around: list[str]) -> None:
    assert objection(wrapped(line, around)) is not None


@pytest.mark.fault("F34")
@given(DESTROYERS, st.sampled_from(NAMES), st.lists(st.sampled_from(RUNS), max_size=2))
def test_what_only_names_a_destroyer_passes_wherever_it_runs(
    line: str, names: str, around: list[str]
) -> None:
    assert objection(wrapped(line, [names, *around])) is None


@pytest.mark.fault("F34")
@pytest.mark.parametrize(
    "line",
    [
        *("(" * 5000, "$(" * 5000, "${x:-" * 5000, "cat|" * 6000, "sudo " * 3000, "a=(" * 5000),
        *("${a[" * 5000, "x=a; " + "x=$x$x; " * 60, "echo 'sh f; sh f' > f; sh f; "),
    ],
)
def test_a_line_made_to_exhaust_the_judge_ends_all_the_same(line: str) -> None:
    assert objection(line + "rm -rf /") is not None


def test_the_refusal_names_the_part_that_is_meant() -> None:
    assert objection("ls && rm -rf /") == "'rm -rf /' deletes /, a whole system or home folder"


@pytest.mark.req("T-20")
def test_variables_that_look_like_secrets_are_not_passed_on() -> None:
    secret = [
        "OPENAI_API_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "PGPASSWORD",
        "MYSQL_PWD",
        "db_password",
        "DB_PASSWORD_FILE",
        "CLIENT_SECRET",
        "AUTHTOKEN",
        "SENTRY_DSN",
        "REDSHANK_DATABASE__URL",
        "BASH_ENV",
        "DATABASE_URL",
        "CELERY_REDIS_URL",
        "SLACK_WEBHOOK_URL",
    ]
    plain = ["PATH", "HOME", "PWD", "LANG", "TOKENIZERS_PARALLELISM", "MONKEY", "XKB_KEYMAP"]
    environment = dict.fromkeys([*secret, *plain], "x")
    environment["STORE"] = "postgresql://me:hidden@host/db"
    environment["HARMLESS"] = "sk-proj-abcdefghij1234567890"
    environment["HOMEPAGE_URL"] = "https://example.org/a:b@c"
    assert sorted(scrubbed(environment)) == sorted([*plain, "HOMEPAGE_URL"])

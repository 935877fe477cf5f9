"""Rules for `run_shell`: what they mean whatever the command looks like, and what is offered."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agent_magics.commandline import ANY, CommandLine, Part, command_pattern
from agent_magics.messages import Assistant
from agent_magics.policy import Answer, CallFacts, Policy, Rule
from agent_magics.tools.commands import read_command
from agent_magics.tools.commands.explaining import reading_note, rule_meaning
from agent_magics.tools.commands.grammar import engine, read_tree
from agent_magics.tools.commands.lexing import MAX_COMMANDS, MAX_LENGTH, NotPlain, read_plain
from agent_magics.tools.commands.offers import offered_scopes
from agent_magics.tools.commands.repository import repository_runs
from agent_magics.tools.shell import run_shell_tool
from agent_magics.tools.workspace import Workspace
from tests.test_shell_bypasses import policy, repository, sections, verdict
from tests.turns import Scene, call, calls

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="there is no bash on this machine")


@pytest.fixture(scope="module")
def space():
    with tempfile.TemporaryDirectory() as folder:
        yield repository(Path(folder))


@pytest.fixture
def without_engine(monkeypatch):
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    assert not engine()


def allowed(command, space, *rules):
    return verdict(policy(*rules), command, space) == "allow"


# -- whatever the words and operators ------------------------------------------------------------

WORD = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"])
    | st.sampled_from(" '\"\\$*~{},#|;&"),
    max_size=8,
)
JOINED = [
    *("{good}; {bad}", "{bad}; {good}", "{good} && {bad}", "{good}&&{bad}", "{good} || {bad}"),
    *("{good} | {bad}", "{bad} | {good}", "{good}\n{bad}", "{good} & {bad}", "{good} |& {bad}"),
    *("{good} $({bad})", "{good} `{bad}`", '{good} "$({bad})"', "{good} <({bad})"),
    *("{good} >({bad})", "({bad}); {good}", "{{ {bad}; }}; {good}", "if {good}; then {bad}; fi"),
    *(
        "{good} ${{x:-$({bad})}}",
        "! {bad}; {good}",
        "f() {{ {bad}; }}; {good}",
        "{good} > /tmp/x; {bad}",
    ),
    *("{good} 2>&1 | {bad}", "{good} # x\n{bad}", "{good} \\\n; {bad}", "x=$({bad}) {good}"),
    *("for i in 1; do {bad}; done; {good}", "{good} ;{bad}", "{good};{good};{bad};{good}"),
    *("{good} $(({bad}))", "coproc {bad}; {good}", "{good} <<< $({bad})", "time {bad}; {good}"),
    *("bash -c '{bad}'", "env {bad}", "xargs {bad}", "sudo {good}; {bad}", "eval {bad}; {good}"),
]
GOOD = ["git status", "git log -n 5", "ls -la src", "cat notes", "echo 'a; b'"]
BAD = ["rm -rf x", "git -c a=b log", "cat .env", "sh x", "curl http://x", "./git status"]
RULES = ("allow git *", "allow ls *", "allow cat *", "allow echo *")


@given(st.sampled_from(JOINED), st.sampled_from(GOOD), st.sampled_from(BAD))
@settings(max_examples=400, deadline=None)
def test_an_allowed_command_never_carries_another_one(space, form, good, bad):
    assert allowed(good, space, *RULES)
    assert not allowed(form.format(good=good, bad=bad), space, *RULES)


@st.composite
def quoted(draw, word):
    """The word in some way of writing it that a shell reads as this word."""
    ways = [_single(word)]
    if not set(word) & set('$`\\"!'):
        ways.append(f'"{word}"')
    if word and " " not in word:
        # The grammar sees an escaped blank at the end of a text in another way, so that asks.
        ways.append("".join(c if c.isalnum() else f"\\{c}" for c in word))
    if word.isalnum() and word.isascii():
        ways += [word, f"{word[:1]}''{word[1:]}", f'{word[:1]}"{word[1:]}"']
    return draw(st.sampled_from(ways))


def _single(word):
    return "'" + word.replace("'", "'\\''") + "'"


@st.composite
def written(draw):
    """Words, and two ways of writing a command of them."""
    words = draw(st.lists(WORD, min_size=1, max_size=5))
    blanks = st.sampled_from([" ", "  ", "\t"])
    texts = [
        "".join(draw(blanks) + draw(quoted(word)) for word in words).lstrip(" \t") for _ in range(2)
    ]
    return tuple(words), texts[0], texts[1]


@given(written())
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_quoting_makes_no_difference(space, case):
    words, first, second = case
    one, other = (read_command(f"echo {text}", space) for text in (first, second))
    assert [part.words for part in one.parts] == [("echo", *words)]
    assert one.parts == other.parts
    for rules in (("allow echo *",), (f"allow echo {first}",)):
        assert allowed(f"echo {first}", space, *rules) == allowed(f"echo {second}", space, *rules)


def ran(text, shell):
    """The words of each `p` and `q` that a shell really runs for a text, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        log.touch()
        # One write for each record: the commands of a pipe run at the same time.
        show = "printf '%s\\0' {name} \"$@\" $'\\001' >>'{log}'"
        functions = "\n".join(f"{n}() {{ {show.format(name=n, log=log)}; }}" for n in "pq")
        Path(folder, "functions").write_text(functions, encoding="utf-8")
        cwd = Path(folder, "cwd")
        cwd.mkdir()
        (cwd / "a").touch()
        subprocess.run(
            [shell, "-c", f". '{folder}/functions'\n{text}"],
            cwd=cwd,
            env={"PATH": "/nonexistent", "HOME": "/home/x", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert [path.name for path in cwd.iterdir()] == ["a"]
        records = log.read_text(encoding="utf-8").split("\1\0")[:-1]
        return sorted(tuple(record.split("\0")[:-1]) for record in records)


@needs_bash
@given(written())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_words_are_those_that_bash_gives_to_a_program(case):
    words, text, _ = case
    assert ran(f"p {text}", BASH) == [("p", *words)]
    assert read_plain(f"p {text}")[0].words == ("p", *words)


PIECES = [
    *"pqab \t\n'\"\\#~{},.=:-!^%@+[]*?$;&|<>()`12é",
    *("&&", "||", " p ", " q ", "2>&1", ">/dev/null", "2>/dev/null", "</dev/null", "\\\n", " \\\n"),
    *("''", " A=1 ", "{a,b}", "@{1}", "1..2", "=~", ":~", "#c", "/dev/null", "12>/dev/null"),
]


@needs_bash
@given(st.lists(st.sampled_from(PIECES), max_size=10).map("".join))
@settings(max_examples=400, deadline=None)
@example("12>/dev/null")
@example("a \\\n#b")
@example("a\\\n#b")
def test_whatever_is_read_as_plain_is_what_bash_runs(tail):
    text = f"p {tail}"
    try:
        simple = read_plain(text)
    except NotPlain:
        return
    if any(command.words[0] not in ("p", "q") for command in simple):
        return
    really = ran(text, BASH)
    read = sorted(command.words for command in simple)
    assert all(words in read for words in really)
    assert "||" in text or really == read


# -- with and without the grammar ----------------------------------------------------------------


def test_without_the_grammar_nothing_more_is_allowed_and_denials_at_least_ask(
    space, without_engine
):
    wider = []
    for rules, cases in sections().items():
        made = policy(*rules.split("; "))
        for case in cases:
            judged = verdict(made, case.command, space)
            if judged == "allow" != case.verdict:
                wider.append(f"[{rules}] {case.command!r}")
    assert not wider, "\n".join(wider)


@pytest.mark.parametrize("command", ["git status", "git  'status'", 'git "status"'])
def test_without_the_grammar_one_plain_command_is_still_allowed(space, without_engine, command):
    assert allowed(command, space, "allow git status")


@pytest.mark.parametrize(
    "command", ["git status; git status", "git status 2>&1", "A=1 git status", "git status # x"]
)
def test_without_the_grammar_everything_else_asks_and_says_what_to_install(
    space, without_engine, command
):
    line = read_command(command, space)
    assert "agent_magics[shell]" in line.opaque
    assert not allowed(command, space, "allow git *")
    assert offered_scopes(command, line) == ()
    assert "%pip install" in reading_note()


def test_with_the_grammar_the_list_of_rules_says_that_commands_are_parsed():
    assert engine() == "tree-sitter-bash"
    assert "are parsed" in reading_note()


# -- long and deep -------------------------------------------------------------------------------

DEEP = {
    "parentheses": "(" * 5000,
    "substitutions": "$(" * 3000 + ")" * 3000,
    "quotes": '"$(' * 2500,
    "backquotes": "`a " * 3000,
    "blocks": "{ " * 3000,
    "branches": "if true; then " * 700,
    "pipes": "a|" * 4900 + "a",
    "lines": "a\n" * 5000,
    "shells": "sh -c " * 1500,
    "evals": "eval 'eval \"eval a; b\"' ; " * 380,
    "wrappers": "env A=1 " * 1200,
    "here-documents": "cat <<A <<B\n" * 700,
    "variables": "$x; " * 2400,
    "patterns": "a*b*" * 2500,
    "slashes": "cat " + "../" * 3000,
}


@pytest.mark.parametrize("text", DEEP.values(), ids=list(DEEP))
def test_a_deep_or_long_command_is_read_to_a_bound_and_asks(space, text):
    line = read_command(text, space)
    assert len(line.found) <= 1200
    assert not allowed(text, space, "allow a *", "allow git *")
    assert verdict(policy("allow", "deny zzz *"), text, space) in ("allow", "ask")


def test_a_command_that_is_too_long_asks_even_where_all_is_allowed_but_something_is_denied(space):
    text = "echo " + "x" * MAX_LENGTH
    assert not allowed(text, space, "allow echo *")
    assert not allowed(text, space, "allow", "deny rm *")
    assert allowed(text, space, "allow")


def test_a_line_of_many_commands_is_not_allowed_by_patterns(space):
    assert allowed("; ".join(["ls"] * MAX_COMMANDS), space, "allow ls")
    assert not allowed("; ".join(["ls"] * (MAX_COMMANDS + 1)), space, "allow ls")


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
@settings(max_examples=300, deadline=None)
@example("\0")
@example("\ud800")
@example("")
def test_reading_never_fails(space, text):
    line = read_command(text, space)
    assert line.parts or line.opaque


# -- patterns ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "words", "matches"),
    [
        ("git log", ("git", "log"), True),
        ("git log", ("git", "log", "-1"), False),
        ("git log *", ("git", "log"), True),
        ("git log *", ("git", "log", "-1", "x y"), True),
        ("git log *", ("git", "logs"), False),
        ("git log*", ("git", "logs"), True),
        ("git * main", ("git", "push", "main"), True),
        ("git * main", ("git", "main"), False),
        ("echo 'a b'", ("echo", "a b"), True),
        ("echo a b", ("echo", "a b"), False),
        ("echo 'a b'", ("echo", "a", "b"), False),
        ("echo '*'", ("echo", "x"), False),
        ("echo '*'", ("echo", "*"), True),
        ("echo \\*", ("echo", "*"), True),
        ('echo "a" *', ("echo", "a", ""), True),
        ("echo it's", ("echo", "it's"), True),
        ("*", ("anything", "at", "all"), True),
        ("* x", ("a", "b", "x"), True),
        ("a*b*c", ("aXbXc",), True),
        ("a*b*c", ("acb",), False),
        ("aa*a", ("aa",), False),
    ],
)
def test_a_pattern_is_about_words(pattern, words, matches):
    line = CommandLine((Part(words),), found=(words,))
    assert command_pattern(pattern).permits("?", line, line.parts[0]) is matches


@pytest.mark.parametrize(
    ("pattern", "words", "concerns"),
    [
        ("rm", ("rm", "x"), "yes"),
        ("rm *", ("rm",), "yes"),
        ("rm *", ("rmdir", "x"), "no"),
        ("rm *", (ANY, "x"), "maybe"),
        ("rm *", (f"r{ANY}", "x"), "maybe"),
        ("rm *", (f"s{ANY}", "x"), "no"),
        ("git push *", ("git", ANY), "maybe"),
        ("git push *", ("git", "log", ANY), "no"),
        ("git * --force", ("git", "push", ANY), "maybe"),
        ("git * --force", ("git", "push", f"--f{ANY}"), "maybe"),
        ("git * --force", ("git", "push", f"{ANY}-forced"), "maybe"),
        ("*x*", ("a", ANY), "maybe"),
        ("*x*", ("a", "b"), "no"),
    ],
)
def test_what_forbids_is_about_all_that_may_run(pattern, words, concerns):
    assert command_pattern(pattern).concerns("?", CommandLine(found=(words,))) == concerns


@given(st.text("ab \0*", max_size=12), st.text("ab *", max_size=8), st.text("ab ", max_size=4))
@settings(deadline=None)
def test_what_an_unknown_part_could_stand_for_is_never_overlooked(text, pattern, filling):
    words = tuple(word for word in text.split(" ") if word)
    filled = tuple(w for w in text.replace(ANY, filling).split(" ") if w)
    asked = command_pattern(pattern)
    known, unknown = CommandLine(found=(filled,)), CommandLine(found=(words,))
    if asked.concerns("?", known) == "yes" and words and filled and pattern.strip():
        assert asked.concerns("?", unknown) != "no"


def test_parts_may_be_allowed_by_rules_of_several_sources(space):
    rules = (
        Rule("run_shell", "allow", "ls *", "user"),
        Rule("run_shell", "allow", "git log *"),
    )
    assert verdict(Policy(rules), "git log | ls", space) == "allow"
    tightened = Policy((*rules, Rule("run_shell", "ask", "ls", "project")))
    assert verdict(tightened, "git log | ls", space) == "ask"
    assert verdict(tightened, "git log", space) == "allow"


def test_the_newest_word_of_the_session_counts_for_each_part(space):
    rules = policy("ask git log", "allow git *", "allow ls")
    assert verdict(rules, "git log; ls", space) == "allow"
    assert verdict(policy("allow git *", "allow ls", "ask git log"), "git log; ls", space) == "ask"


AUTO = [
    "ls",
    "cat notes",
    "pytest -q 2>&1 | tail",
    "x=1; echo $x > out",
    "python a.py",
    "rm -rf sub",
]
OUTSIDE = [
    *("cat /etc/passwd", "cat .env", "cat away/passwd", "cat ../x", "cat ~/.ssh/id_rsa", "ls ~"),
    *("cat $HOME/.netrc", "cat ${HOME}/x", "echo x > /etc/x", "echo x >> ../x", "cat < .env"),
    *("cp x .git/hooks/pre-commit", "echo x > .git/config", "bash -c 'cat /etc/passwd'"),
    *("echo $(cat .env)", "sudo cat /etc/shadow", "find / -name x", "grep -f.env x", "cat .e*"),
    *("cat $x/y", "cat /etc/$x", "cd /tmp && ls", "for i in a; do cat /etc/$i; done", "cat *.pem"),
    "if true; then cat .env; fi",
]


@pytest.mark.parametrize("command", AUTO)
def test_the_mode_auto_does_not_ask_inside_the_workspace(space, command):
    assert verdict(Policy(mode="auto"), command, space) == "allow"


@pytest.mark.parametrize("command", OUTSIDE)
def test_the_mode_auto_asks_about_commands_that_name_what_is_outside_or_protected(space, command):
    assert verdict(Policy(mode="auto"), command, space) == "ask"
    assert verdict(Policy((Rule("run_shell", "allow"),), "auto"), command, space) == "allow"


@pytest.mark.parametrize("command", [*OUTSIDE, "python -c 'print(open(\".env\").read())'"])
def test_without_the_grammar_the_mode_auto_asks_about_them_too(space, without_engine, command):
    assert verdict(Policy(mode="auto"), command, space) == "ask"


def test_the_reason_names_the_part_that_no_rule_allows(space):
    def reason(command, *rules):
        facts = CallFacts("run_shell", "run", command, commands=read_command(command, space))
        return policy(*rules).judge(facts).reason

    assert reason("git log; rm x", "allow git *") == "no rule allows 'rm x'"
    assert "it writes a file" in reason("git log > x", "allow git *")
    assert "sudo can run other commands" in reason("sudo ls", "allow sudo *")
    assert reason("ls") == "the default for run tools"
    assert len(reason("ls " + "x" * 5000, "allow git *")) < 200


# -- the repository's own programs ---------------------------------------------------------------


@pytest.mark.parametrize(
    "setting",
    [
        "[core]\n\tfsmonitor = ./evil",
        "[core] fsmonitor=./evil",
        "[CORE]\n  FsMonitor = ./evil",
        "[core]\n\tfsmon\\\nitor = x\n\tpager = evil",
        "[core]\n\thooksPath = /tmp/x",
        "[core]\n\tsshCommand = evil",
        "[diff]\n\texternal = evil",
        '[diff "x"]\n\ttextconv = evil',
        '[diff "a]b"] command = evil',
        '[filter "x"]\n\tclean = evil',
        '[merge "x"]\n\tdriver = evil',
        "[alias]\n\tx = !evil",
        "[include]\n\tpath = elsewhere",
        '[includeIf "gitdir:/"]\n\tpath = elsewhere',
        "[pager]\n\tlog = evil",
        "[gpg]\n\tprogram = evil",
        '[gpg "ssh"]\n\tprogram = evil',
        "[protocol]\n\tallow = always",
        '[remote "x"]\n\tuploadpack = evil',
        "[credential]\n\thelper = !evil",
        "[core\n\tfsmonitor = x",
        "# " + "x" * 300_000,
    ],
)
def test_a_repository_that_runs_programs_makes_git_ask(tmp_path, setting):
    space = repository(tmp_path)
    assert allowed("git status", space, "allow git status")
    with (tmp_path / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write(f"\n{setting}\n")
    for rule in ("allow git status", "allow git *", "allow *"):
        assert not allowed("git status", space, rule)
    assert not allowed("timeout 5 git status", space, "allow timeout 5 git status")
    assert allowed("ls", space, "allow ls")
    assert allowed("git status", space, "allow")
    assert offered_scopes("git status", read_command("git status", space)) == ()


@pytest.mark.parametrize(
    "setting", ["[core]\n\tfsmonitor = true", "[user]\n\tname = x", '[branch "a"]\n\tremote = o']
)
def test_ordinary_settings_of_a_repository_change_nothing(tmp_path, setting):
    space = repository(tmp_path)
    with (tmp_path / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write(f"\n{setting}\n")
    assert allowed("git status", space, "allow git status")


def test_a_hook_makes_those_git_commands_ask_that_start_it(tmp_path):
    space = repository(tmp_path)
    hook = tmp_path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n", encoding="utf-8")
    assert allowed("git commit -m x", space, "allow git commit *")
    hook.chmod(0o755)
    assert not allowed("git commit -m x", space, "allow git commit *")
    assert allowed("git status", space, "allow git status")
    hook.rename(hook.with_name("post-index-change"))
    assert not allowed("git status", space, "allow git status")


def test_linked_working_trees_and_inner_modules_are_looked_at(tmp_path):
    repository(tmp_path / "main" if (tmp_path / "main").mkdir() is None else tmp_path)
    inside = tmp_path / "main" / ".git"
    (inside / "worktrees" / "w").mkdir(parents=True)
    (inside / "worktrees" / "w" / "commondir").write_text("../..\n", encoding="utf-8")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {inside}/worktrees/w\n", encoding="utf-8")
    assert repository_runs(linked, reads=True) == ""
    (inside / "modules" / "m").mkdir(parents=True)
    (inside / "modules" / "m" / "config").write_text("[core]\nfsmonitor=x\n", encoding="utf-8")
    assert "core.fsmonitor" in repository_runs(linked, reads=True)
    assert "core.fsmonitor" in repository_runs(tmp_path / "main" / "sub", reads=True)


def test_a_folder_that_is_gone_allows_nothing(tmp_path):
    space = Workspace(lambda: tmp_path / "gone")
    assert read_command("git log", space).opaque
    assert not allowed("cat x", space, "allow cat *")


# -- what the buttons offer ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "prefix"),
    [
        ("git checkout -b x", "git checkout *"),
        ("git status", "git status *"),
        ("git log --oneline -5", "git log *"),
        ("pytest -q tests", "pytest *"),
        ("ls -la", "ls *"),
        ("ruff check .", "ruff check *"),
        ("find . -name '*.py'", "find *"),
        *((text, "") for text in ("git push", "git reset --hard", "git clean -fd", "git rm x")),
        *((text, "") for text in ("npm run build", "pip install x", "make test", "python x.py")),
        *((text, "") for text in ("rm x", "mv a b", "chmod +x a", "dd if=a of=b", "mytool x")),
        *((text, "") for text in ("curl http://x", "wget http://x", "sudo ls", "env ls")),
        *(
            (text, "")
            for text in ("find . -delete", "cat .env", "git -c a=b log", "./ls", "cd sub")
        ),
        *((text, "") for text in ("ls | head", "git add . && git status", "A=1 pytest")),
    ],
)
def test_the_buttons_offer_this_command_and_a_sensible_beginning(space, command, prefix):
    line = read_command(command, space)
    scopes = offered_scopes(command, line)
    assert scopes[0].label == "exactly this command, this session"
    assert [scope.label for scope in scopes[1:]] == ([f"{prefix}, this session"] if prefix else [])
    for scope in scopes:
        assert allowed(command, space, f"allow {scope.rule.pattern}")


@pytest.mark.parametrize(
    "command",
    ["ls *", "ls $x", "ls > x", "ls &", "ls\nls", "ls `x`", "(ls)", "ls ~", "echo " + "x" * 500],
)
def test_no_button_for_what_may_mean_something_else_tomorrow(space, command):
    assert offered_scopes(command, read_command(command, space)) == ()


@given(st.sampled_from([c for cases in sections().values() for c in cases]))
@settings(max_examples=300, deadline=None)
def test_every_button_allows_what_it_was_offered_for_and_only_words_behind_it(space, case):
    line = read_command(case.command, space)
    for scope in offered_scopes(case.command, line):
        made = Policy((scope.rule,))
        assert verdict(made, case.command, space) == "allow"
        assert verdict(made, f"{case.command}; rm -rf x", space) != "allow"
        assert verdict(made, f"sudo {case.command}", space) != "allow"


def test_after_always_the_next_such_command_runs_without_a_question(space):
    tool = run_shell_tool(space)
    _, prefix, _ = tool.scopes({"command": "ls src"})
    commands = ["ls src", "ls -l sub", "ls sub; touch made"]
    replies = [calls(call("run_shell", f"c{n}", command=c)) for n, c in enumerate(commands)]
    scene = Scene([*replies, Assistant("Done.")], [tool], [Answer(True, scope=prefix)])
    scene.ask()
    assert [question.title for question in scene.person.asked] == [
        "run_shell ls src",
        "run_shell ls sub; touch made",
    ]
    assert scene.person.asked[1].reason == "no rule allows 'touch made'"
    assert not (space.root() / "made").exists()


def test_edited_arguments_are_judged_by_what_they_run(space):
    tool = run_shell_tool(space)
    edited = Answer(True, arguments='{"command": "env touch made"}')
    replies = [calls(call("run_shell", command="ls > /dev/null; true")), Assistant("Done.")]
    scene = Scene(replies, [tool], [edited], policy=policy("deny touch *"))
    scene.ask()
    assert not (space.root() / "made").exists()


# -- what the person is told ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("", "every command, whatever it does"),
        ("*", "every plain command"),
        ("* x", "every plain command that the text fits"),
        ("git *", "git with any words: push"),
        ("ls *", "ls with any words"),
        ("git*", "name begins with git"),
        ("sudo *", "sudo can run other commands. Give the whole command"),
        ("bash *", "bash runs code"),
        ("npm run *", "npm runs what a project"),
        ("ls > x", "asks each time all the same: it writes a file"),
        ("echo $HOME", "it holds a variable"),
        ("cat * | head", "allows nothing"),
        ("git status", ""),
        ("git log *", ""),
        ("make test", ""),
    ],
)
def test_a_new_rule_is_explained(pattern, says):
    meaning = rule_meaning(Rule("run_shell", "allow", pattern))
    assert says in meaning if says else meaning == ""
    assert rule_meaning(Rule("run_shell", "deny", pattern)) == ""


def test_the_grammar_reads_what_a_heredoc_gives():
    reading = read_tree("cat <<E | sh\nrm x\nE")
    assert reading is not None
    assert [command.words for command in reading.commands] == [("cat",), ("sh",)]
    assert reading.commands[1].fed

"""Plug-ins: found without an import, used when they are asked for, broken without harm."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from agent_magics.errors import ModelError, UsageProblem
from agent_magics.events import Notice
from agent_magics.extension import loaded
from agent_magics.frontends.plugged import Surroundings, plugged_front_end
from agent_magics.frontends.routes import Route
from agent_magics.library.entry_points import EntryPoints
from agent_magics.library.plugins import GROUPS, PluginProblem, Plugins
from agent_magics.messages import Assistant, User
from agent_magics.policy import Answer, CallFacts, Policy
from agent_magics.ports import Request
from agent_magics.providers.plugged import PluggedModel, plugged
from tests.shellkit import magic, skill
from tests.turns import Scene, Spy, call, calls

pytest_plugins = ["tests.shellkit_fixtures"]

TOOLS = '''
from agent_magics import tool

@tool
def {name}(n: int) -> str:
    """Do {name}."""
    return f"{name} {{n}}"
'''
MODEL = """
from agent_magics.messages import Assistant

class Model:
    name = "m"
    async def stream(self, request):
        yield Assistant("from the plug-in")

def model(name):
    return Model()
"""
FRONT_END = """
from agent_magics.policy import Answer

class Both:
    def show(self, event):
        print("shown", type(event).__name__)
    async def ask(self, question):
        return Answer(True, "plug-in")

def front_end(around):
    return Both(), Both()
"""


def install(site: Path, name: str, group: str, value: str, code: str) -> None:
    """An installed package, by hand: its metadata and one module."""
    info = site / f"{name}-1.5.dist-info"
    info.mkdir(parents=True)
    entries = f"[agent_magics.{group}]\n{name} = {value}\n"
    (info / "entry_points.txt").write_text(entries, encoding="utf-8")
    (site / f"{name}.py").write_text(code, encoding="utf-8")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of installed packages on the search path; what was imported from it is forgotten."""
    folder = tmp_path / "env" / "site-packages"
    folder.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if name.startswith("plug_"):
            del sys.modules[name]


def plugins(site: Path, cwd: Path, disabled=(), taken=("read",)) -> Plugins:
    points = EntryPoints(tuple(GROUPS), lambda: [str(site)])
    return Plugins(lambda: cwd, lambda: disabled, taken, points)


def test_tools_come_under_their_package_and_ask_whatever_they_say(site, tmp_path):
    install(site, "plug_a", "tools", "plug_a", TOOLS.format(name="count"))
    code = (
        "from agent_magics.tool import Tool, ToolOutput\n"
        "async def run(arguments, report): return ToolOutput('x')\n"
        "peek = Tool('peek', 'Peek.', {'type': 'object', 'properties': {}}, 'read', run)\n"
    )
    install(site, "plug_b", "tools", "plug_b:peek", code)
    found = plugins(site, tmp_path)
    assert "plug_a" not in sys.modules
    count, peek = found.tools()
    assert (count.name, count.origin) == ("count", "plug-in plug-a 1.5")
    for tool in (count, peek):
        facts = CallFacts(tool.name, tool.effect)
        assert Policy().judge(facts).decision == "ask"
    assert [(s.name, s.state, s.brings) for s in found.states()] == [
        ("plug_a", "loaded", ("count",)),
        ("plug_b", "loaded", ("peek",)),
    ]


def test_a_question_about_a_plugins_tool_says_who_brought_it():
    scene = Scene([calls(call("look", n=1)), Assistant("Done.")])
    tool = Spy(effect="bundled", extra={"origin": "plug-in acme 1"}).tool
    scene.tools = [tool]
    scene.ask()
    assert scene.person.asked[0].origin == "plug-in acme 1"


@pytest.mark.parametrize(
    ("value", "code", "why"),
    [
        ("plug_x", "1 / 0", "ZeroDivisionError: division by zero"),
        ("plug_x", "raise SystemExit(3)", "SystemExit: 3"),
        ("plug_x", "import gone_zz", "No module named 'gone_zz'"),
        ("plug_x", "def", "SyntaxError"),
        ("plug_x:gone", "", "no attribute 'gone'"),
        ("gone_zz:x", "", "there is no installed module gone_zz"),
        ("plug x:y z", "", "there is no installed module plugx"),
        ("!", "", "is no MODULE:NAME"),
        ("plug_x", "", "it leads to no tool"),
        ("plug_x:x", "x = 5", "5 is neither a function nor a Tool"),
        ("plug_x:x", "x = int", "neither a function nor a Tool"),
        ("plug_x:x", "x = lambda n: n", "cannot be a tool's name"),
        ("plug_x:f", "def f(n): 'Doc.'", "has no type"),
        ("plug_x:x", "def f(n: int): 'Doc.'\nx = [f, f]", "two tools named f"),
        ("plug_x:read", "def read(n: int): 'Doc.'", "name of its tool read is taken by a built-in"),
    ],
)
def test_a_broken_plugin_is_a_line_with_its_reason_and_the_others_work(
    site, tmp_path, value, code, why
):
    install(site, "plug_x", "tools", value, code)
    install(site, "plug_y", "tools", "plug_y", TOOLS.format(name="fine"))
    found = plugins(site, tmp_path)
    assert [tool.name for tool in found.tools()] == ["fine"]
    (broken,) = [s for s in found.states() if s.name == "plug_x"]
    assert broken.state.startswith("broken: ")
    assert why in broken.state


def test_a_failed_import_is_tried_again_only_when_the_person_checks(site, tmp_path):
    count = tmp_path / "imports"
    code = f"open({str(count)!r}, 'a').write('x')\n"
    install(site, "plug_x", "tools", "plug_x", f"{code}1 / 0")
    found = plugins(site, tmp_path)
    for _ in range(3):
        assert found.tools() == ()
    assert count.read_text() == "x"
    (site / "plug_x.py").write_text(f"{code}{TOOLS.format(name='mended')}")
    found.load_all()
    assert [tool.name for tool in found.tools()] == ["mended"]
    assert found.states()[0].state == "loaded"


def test_of_two_plugins_with_one_tools_name_the_first_has_it(site, tmp_path):
    for name in ("plug_a", "plug_b"):
        install(site, name, "tools", name, TOOLS.format(name="count"))
    found = plugins(site, tmp_path)
    assert [tool.origin for tool in found.tools()] == ["plug-in plug-a 1.5"]
    assert "taken by plug-in plug-a 1.5" in found.states()[1].state


@pytest.mark.parametrize("named", ["plug_a", "plug-a"])
def test_a_disabled_plugin_is_listed_and_never_imported(site, tmp_path, named):
    install(site, "plug_a", "tools", "plug_a", "raise SystemExit")
    found = plugins(site, tmp_path, disabled=(named,))
    found.load_all()
    assert found.tools() == ()
    assert [s.state for s in found.states()] == ["disabled"]
    assert "plug_a" not in sys.modules


def test_what_lies_in_the_project_is_no_plugin(tmp_path, monkeypatch):
    repository = tmp_path / "repo"
    (repository / ".git").mkdir(parents=True)
    install(repository, "plug_evil", "tools", "plug_evil", "raise SystemExit")
    monkeypatch.chdir(repository)
    for search in (["", str(repository)], ["."]):
        points = EntryPoints(tuple(GROUPS), lambda s=search: s)
        found = Plugins(lambda: repository, tuple, (), points)
        assert (found.states(), found.tools()) == ((), ())


def test_a_module_of_the_project_is_not_imported_in_a_plugins_place(site, tmp_path, monkeypatch):
    repository = tmp_path / "repo"
    (repository / "src").mkdir(parents=True)
    (repository / ".git").mkdir()
    install(site, "plug_a", "tools", "plug_a", TOOLS.format(name="count"))
    for folder in (repository, repository / "src"):
        (folder / "plug_a.py").write_text("raise SystemExit('caught')")
    monkeypatch.chdir(repository)
    monkeypatch.syspath_prepend(str(repository))
    found = plugins(site, repository)
    assert [tool.name for tool in found.tools()] == ["count"]
    monkeypatch.syspath_prepend(str(repository / "src"))
    del sys.modules["plug_a"]
    other = plugins(site, repository)
    assert other.tools() == ()
    assert "another module plug_a comes before it from" in other.states()[0].state


# ---- providers


REQUEST = Request("", (User("Hi."),))


def streamed(model: PluggedModel):
    async def items():
        return [item async for item in model.stream(REQUEST)]

    return asyncio.run(items())


class Says:
    """A model that yields what it was given; exceptions are raised."""

    name = "says"

    def __init__(self, *items):
        self.items = items

    async def stream(self, _request):
        for item in self.items:
            if isinstance(item, Exception):
                raise item
            yield item


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ((RuntimeError("key S3CRET"),), r"x failed: RuntimeError: key \[redacted\]"),
        ((ModelError("its own words"),), "its own words"),
        ((), "ended without an answer"),
        ((Assistant("a"), Assistant("b")), "said more after its answer"),
    ],
)
def test_whatever_a_plugins_model_does_wrong_is_a_model_error(items, message):
    model = PluggedModel("x", Says(*items), lambda t: t.replace("S3CRET", "[redacted]"))
    with pytest.raises(ModelError, match=message):
        streamed(model)


@pytest.mark.parametrize("factory", [5, lambda _name: None, lambda _name: 1 / 0])
def test_a_factory_that_makes_no_model_is_a_model_error(factory):
    with pytest.raises(ModelError, match="plug-in acme 1 ma"):
        plugged("x:y", factory, "y", "acme 1", str)


def test_a_models_connections_are_closed_if_it_has_some():
    class Open(Says):
        closed = False

        async def aclose(self):
            self.closed = True

    model = Open(Assistant("a"))
    asyncio.run(PluggedModel("x", model, str).aclose())
    asyncio.run(PluggedModel("x", Says(), str).aclose())
    assert model.closed


def test_a_providers_model_answers_in_a_cell_and_colons_mean_nothing_else(
    shell, site, home, capsys, monkeypatch
):
    install(site, "plug_m", "providers", "plug_m:model", MODEL)
    magic(shell, "agent", "model plug_m:big")
    assert "Model: plug_m:big at plug-in plug-m 1.5" in capsys.readouterr().out
    magic(shell, "agent", "--out r", "Hi.\n")
    assert shell.user_ns["r"].text == "from the plug-in"
    assert shell.user_ns["r"].model == "plug_m:big"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    (home / "config.yaml").write_text("base_url: http://127.0.0.1:9/v1\n")
    magic(shell, "agent", "model qwen2.5:1.5b")
    assert "Model: qwen2.5:1.5b at http://127.0.0.1:9/v1" in capsys.readouterr().out


def test_a_provider_that_cannot_be_imported_says_so_and_is_listed(shell, site):
    install(site, "plug_m", "providers", "plug_m:model", "1 / 0")
    with pytest.raises(UsageProblem, match="provider plug_m cannot be used: ZeroDivisionError"):
        magic(shell, "agent", "model plug_m:big")
    assert "broken: ZeroDivisionError" in str(magic(shell, "agent", "plugins"))


# ---- front ends


AROUND = Surroundings(None, False, Route("nobody", "here"), None, None)  # type: ignore[arg-type]


def test_a_front_ends_failures_are_a_no_and_a_silence():
    class Broken:
        shows = 0

        def show(self, _event):
            self.shows += 1
            raise RuntimeError("screen")

        async def ask(self, _question):
            raise RuntimeError("line")

        def close(self):
            raise RuntimeError("close")

    broken = Broken()
    renderer, approver = plugged_front_end(lambda _around: (broken, broken), "acme", AROUND)
    for _ in range(3):
        renderer.show(Notice("x"))
    renderer.close()
    approver.abandon()
    assert broken.shows == 1
    answer = asyncio.run(approver.ask(None))  # type: ignore[arg-type]
    assert answer == Answer(False, "nobody", "acme failed: RuntimeError: line")

    class Odd(Broken):
        async def ask(self, _question):
            return True

    _, approver = plugged_front_end(lambda _around: (Odd(), Odd()), "acme", AROUND)
    assert not asyncio.run(approver.ask(None)).allowed  # type: ignore[arg-type]


@pytest.mark.parametrize("factory", [5, lambda _a: None, lambda _a: (1, 2), lambda _a: 1 / 0])
def test_a_factory_that_makes_no_front_end_raises(factory):
    with pytest.raises((TypeError, ZeroDivisionError)):
        plugged_front_end(factory, "acme", AROUND)


def test_a_front_end_shows_and_answers_in_a_cell(shell, site, capsys):
    install(site, "plug_f", "frontends", "plug_f:front_end", FRONT_END)
    install(site, "plug_m", "providers", "plug_m:model", MODEL)
    shell.run_line_magic("config", "AgentMagics.frontend = 'plug_f'")
    magic(shell, "agent", "model plug_m:big")
    magic(shell, "agent", "", "Hi.\n")
    assert "shown TurnEnded" in capsys.readouterr().out


@pytest.mark.parametrize("code", ["1 / 0", "def front_end(around): 1 / 0"])
def test_a_front_end_that_is_broken_leaves_the_usual_one(shell, site, capsys, code):
    install(site, "plug_f", "frontends", "plug_f:front_end", code)
    install(site, "plug_m", "providers", "plug_m:model", MODEL)
    shell.run_line_magic("config", "AgentMagics.frontend = 'plug_f'")
    magic(shell, "agent", "model plug_m:big")
    magic(shell, "agent", "", "Hi.\n")
    said = capsys.readouterr().out
    assert "The front end 'plug_f' cannot be used (ZeroDivisionError" in said
    assert "from the plug-in" in said
    assert "broken: ZeroDivisionError" in str(magic(shell, "agent", "plugins"))


# ---- in the shell


def test_loading_the_extension_imports_no_plugin_and_a_broken_one_breaks_nothing(site, shell):
    install(site, "plug_x", "tools", "plug_x", "raise SystemExit('imported')")
    import agent_magics

    agent_magics.unload_ipython_extension(shell)
    agent_magics.load_ipython_extension(shell)
    assert "plug_x" not in sys.modules
    assert "not loaded yet" in str(magic(shell, "agent", "plugins"))
    assert "broken: SystemExit: imported" in str(magic(shell, "agent", "plugins check"))
    assert "read" in [tool.name for tool in loaded(shell).visible()]


def test_a_whitelist_closes_plugins_tools_and_a_skills_own_goes_before_them(shell, site):
    install(site, "plug_a", "tools", "plug_a", TOOLS.format(name="count"))
    magics = loaded(shell)
    assert "count" in [tool.name for tool in magics.visible()]
    skill(Path("skills"), "closed", tools="tools: [read]")
    skill(
        Path.home() / ".agents" / "skills",
        "mine",
        code='def count(text: str) -> str:\n    """Count."""\n    return "skill"\n',
    )
    magics.skill_code = "allow"
    magic(shell, "use", "closed")
    assert [tool.name for tool in magics.visible()] == ["read"]
    magic(shell, "use", "mine")
    (count,) = [tool for tool in magics.visible() if tool.name == "count"]
    assert (count.skill, count.origin) == ("mine", "")


def test_the_configuration_switches_a_package_off_with_its_skills(shell, site, home):
    install(site, "plug_s", "skills", "plug_skills", "")
    skill(site / "plug_skills", "from-package")
    assert "from-package" in [row.name for row in magic(shell, "skills")]
    assert "see %skills" in str(magic(shell, "agent", "plugins"))
    (home / "config.yaml").write_text("disabled_plugins: [plug-s]\n")
    assert "from-package" not in [row.name for row in magic(shell, "skills")]
    assert "disabled" in str(magic(shell, "agent", "plugins"))


def test_other_words_are_refused(shell):
    with pytest.raises(UsageProblem, match="plugins check"):
        magic(shell, "agent", "plugins remove x")


def test_what_is_not_there_is_said_with_what_is(site, tmp_path):
    install(site, "plug_m", "providers", "plug_m:model", MODEL)
    with pytest.raises(PluginProblem, match="brings 'x'; there are: plug_m"):
        plugins(site, tmp_path).get("providers", "x")

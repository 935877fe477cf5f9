"""Very many tools: which are shown, how the others are found, and that nothing else opens."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent_magics.messages import Assistant
from agent_magics.policy import Policy, Rule
from agent_magics.tool import effective_tools
from agent_magics.tools.finding import FOUND, offer
from tests.shellkit import magic, skill
from tests.turns import Scene, Spy, call, calls

pytest_plugins = ["tests.shellkit_fixtures"]


def many(count=60):
    return [
        replace(Spy(f"mcp__shop__thing_{n:02}").tool, description=f"Thing {n}.")
        for n in range(count)
    ]


def named(tools):
    return [tool.name for tool in tools]


def find(made, query):
    finder = next(tool for tool in made.tools if tool.name == "find_tools")
    return asyncio.run(finder.run({"query": query}, lambda text: None)).text


def test_few_tools_are_all_shown_and_nothing_is_added():
    tools = tuple(many(5))
    made = offer(tools, (), set(), 40)
    assert made.tools == made.offered() == tools


def test_beyond_the_threshold_only_the_built_in_ones_are_shown_until_others_are_found():
    loaded: set[str] = set()
    made = offer([*many(), Spy("read").tool], {"read"}, loaded, 40)
    assert named(made.offered()) == ["find_tools", "read"]
    text = find(made, "thing 07")
    assert "mcp__shop__thing_07" in text.split("\n")[1]
    assert "mcp__shop__thing_07" in named(made.offered())
    assert len(loaded) <= FOUND
    assert named(made.offered()) == sorted(named(made.offered()))


def test_a_threshold_of_zero_shows_any_number():
    assert len(offer(many(), (), set(), 0).offered()) == 60


def test_a_search_that_fits_nothing_lists_the_names():
    made = offer(many(200), (), set(), 40)
    text = find(made, "qqqqq")
    assert "mcp__shop__thing_00" in text
    assert "and 100 more" in text


@given(st.text(max_size=60))
def test_no_query_opens_more_than_the_tools_of_the_turn(query):
    tools = many()
    loaded: set[str] = set()
    made = offer(tools, (), loaded, 40)
    if query.strip():
        find(made, query)
    assert loaded <= set(named(tools))
    assert set(named(made.offered())) <= set(named(made.tools))


def test_what_is_denied_cannot_be_found():
    policy = Policy((Rule("mcp__shop__*", "deny"),))
    tools = effective_tools([*many(), *(Spy(f"t{n}").tool for n in range(50))], (), policy=policy)
    made = offer(tools, (), set(), 40)
    assert "mcp__shop" not in find(made, "thing 07")


def test_a_found_tool_is_in_the_next_request_and_runs():
    spy = Spy("mcp__shop__order")
    made = offer([*many(), spy.tool], (), set(), 40)
    scene = Scene(
        [
            calls(call("find_tools", query="order")),
            calls(call("mcp__shop__order", "c2", n=1)),
            Assistant("Done."),
        ],
        made.tools,
    )
    turn = replace(scene.turn(), offered=made.offered)
    asyncio.run(scene.session.ask("Go", turn, scene.log))
    shown = [named(request.tools) for request in scene.model.requests]
    assert shown[0] == ["find_tools"]
    assert "mcp__shop__order" in shown[1]
    assert spy.ran == [{"n": 1}]


def test_a_skill_with_very_many_tools_is_found_piece_by_piece(shell, home):
    from agent_magics.extension import loaded

    functions = "\n".join(
        f'def part_{n}(text: str) -> str:\n    """Part {n} of the work."""\n    return text\n'
        for n in range(50)
    )
    skill(home / ".agents" / "skills", "huge", code=functions)
    magic(shell, "use", "huge")
    text = magic(shell, "agent", "--preview", "Hi\n").text
    assert "find_tools" in text
    assert "part_7" not in text
    loaded(shell).tool_threshold = 0
    text = magic(shell, "agent", "--preview", "Hi\n").text
    assert "find_tools" not in text
    assert "part_7" in text


def test_taking_the_search_away_shows_everything(shell, home):
    functions = "\n".join(
        f'def part_{n}(text: str) -> str:\n    """Part {n} of the work."""\n    return text\n'
        for n in range(50)
    )
    skill(home / ".agents" / "skills", "huge", code=functions)
    magic(shell, "use", "huge")
    (home / "config.yaml").write_text("disabled_tools: [find_tools]\n", encoding="utf-8")
    assert "part_7" in magic(shell, "agent", "--preview", "Hi\n").text


def test_a_new_conversation_starts_without_what_was_found(shell):
    from agent_magics.extension import loaded

    session = loaded(shell).session
    session.found_tools.add("x")
    magic(shell, "agent", "reset")
    assert session.found_tools == set()

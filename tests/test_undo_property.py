"""Any run of changes by the tools, taken back: the tree is as before, bytes, modes and links."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_magics.errors import ToolError
from tests.undokit import UndoKit, snapshot

NAMES = ("a", "b", "d", "d/a", "d/b", "d/e", "d/e/c", "f/g/h", "d/link")
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None  # each change is forced to the disk
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("write", "edit", "delete", "move", "shell")),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
        st.integers(0, 3),
    ),
    max_size=12,
)


def planted(kit: UndoKit, chance: random.Random) -> None:
    """A random tree to begin with."""
    for name in chance.sample(NAMES, 5):
        path = kit.root / name
        if any(p.is_file() or p.is_symlink() for p in path.parents) or path.is_dir():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        kind = chance.randrange(4)
        if kind == 0:
            path.symlink_to(chance.choice(("a", "nowhere", "..")))
        elif kind == 1:
            path.mkdir(mode=chance.choice((0o700, 0o755)))
        else:
            path.write_bytes(chance.choice((b"one\n", b"\0\xff", b"", b"two\r\nx")))
            path.chmod(chance.choice((0o600, 0o644, 0o755)))


def stepped(kit: UndoKit, tool: str, path: str, other: str, number: int) -> bool:
    """One call as a model might make it; whether it was done."""
    try:
        match tool:
            case "write":
                if (kit.root / path).is_file():
                    kit.run("read", path=path)
                kit.run("write", path=path, content=f"text {number}\n" * number)
            case "edit":
                kit.run("read", path=path)
                kit.run("edit", path=path, old=("one", "two", "text", "\n")[number], new="X\nY")
            case "delete":
                kit.run("delete", path=path, recursive=number > 0)
            case "move":
                kit.run("move", source=path, destination=other, overwrite=number > 1)
            case _:
                return False
    except ToolError:
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), steps=STEPS, cuts=st.sets(st.integers(0, 11), max_size=3))
def test_whatever_the_tools_did_an_undo_brings_the_tree_back(seed, steps, cuts):
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        kit = UndoKit(Path(folder) / "work", Path(folder) / "data")
        planted(kit, random.Random(seed))
        states = [snapshot(kit.root)]
        done = 0
        turn = kit.turn()
        turn.__enter__()
        for number, step in enumerate(steps):
            if number in cuts:
                turn.__exit__(None, None, None)
                states.append(snapshot(kit.root))
                turn = kit.turn()
                turn.__enter__()
            done += stepped(kit, *step)
        turn.__exit__(None, None, None)
        states.append(snapshot(kit.root))
        undone = 0
        while any(not e.undone and e.journal.changes for e in kit.entries()):
            kit.undo()
            undone += 1
        assert snapshot(kit.root) == states[0]
        for _ in range(undone):
            kit.redo()
        assert snapshot(kit.root) == states[-1]
        assert not list(kit.root.rglob(".agent_magics-*"))


@pytest.mark.parametrize("seed", range(3))
def test_a_long_random_run_is_taken_back_turn_by_turn(tmp_path, seed):
    chance = random.Random(seed)
    kit = UndoKit(tmp_path / "work", tmp_path / "data")
    planted(kit, chance)
    states, done = [], 0
    for _ in range(12):
        before = snapshot(kit.root)
        with kit.turn():
            for _ in range(8):
                step = chance.choice(("write", "edit", "delete", "move"))
                names = chance.choice(NAMES), chance.choice(NAMES)
                done += stepped(kit, step, *names, chance.randrange(4))
        if kit.entries() and len(kit.entries()) > len(states):
            states.append(before)
    assert done > 20
    for before in reversed(states):
        kit.undo()
        assert snapshot(kit.root) == before

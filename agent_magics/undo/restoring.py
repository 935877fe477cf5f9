"""Doing what was planned: all of it, or nothing.

Owns the order (what is in the way goes first, the deepest first; then folders, files and links come
back), the look at each path right before it changes, and the way back when the disk refuses in
the middle. What stands there before is kept like any other change, so an undo can be undone.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_magics.errors import AgentMagicsError
from agent_magics.tools.plain import printable
from agent_magics.tools.states import ABSENT, FOLDER, new_parents, state_of, unfollowed
from agent_magics.undo.journal import Header, Purpose, done_line
from agent_magics.undo.planning import Plan, Step
from agent_magics.undo.store import OpenTurn, Store


class UndoFailed(AgentMagicsError):
    """An undo that could not be made; what is on the disk is said in the text."""


@dataclass(slots=True)
class Done:
    """How far an undo came.

    Args:
        steps: Those that were made, in order.
        kept: Folders that stay, since someone else put something into them.
    """

    steps: list[Step] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)


def undone(store: Store, plan: Plan, kernel: str, limit: int, *, force: bool = False) -> Done:
    """Take a turn back.

    Args:
        store: Where the copies lie, and where what stands there now is kept.
        plan: From `planned`, just now.
        kernel: Names the running kernel.
        limit: Bytes that all copies may have.
        force: Also what someone else changed since; and even if nothing of it can be kept.

    Raises:
        UndoFailed: Nothing was changed; or not all of it could be put back, and what is said.
    """
    steps = _with_parents(plan.forced if force else plan.steps)
    header = plan.journal.header
    kind: Purpose = "redo" if header.kind == "undo" else "undo"
    header = replace(header, kind=kind, time=time.time(), kernel=kernel, of=plan.journal.name)
    with _kept(store, header, steps, limit, plan.journal.name, force=force) as (turn, blobs):
        done = Done()
        try:
            _apply(steps, done)
        except (OSError, KeyboardInterrupt) as error:
            raise UndoFailed(_back_again(done, blobs, error)) from error
        if turn is not None:
            with suppress(OSError):
                # Without the line it counts as not undone, and undoing it again finds all done.
                turn.write(done_line())
    return done


@contextmanager
def _kept(
    store: Store, header: Header, steps: Sequence[Step], limit: int, name: str, *, force: bool
) -> Iterator[tuple[OpenTurn | None, Path | None]]:
    """A turn of its own with what stands at these paths now."""
    turn = None
    try:
        needed = sum(step.now.size for step in steps)
        if store.make_room(needed, max(limit, needed), name) < needed:
            raise OSError(None, "there is no room for it")
        turn = store.begin(header)
        turn.keep([(step.path, step.then) for step in steps])
    except OSError as error:
        if turn is not None:
            turn.close()
            turn = None
        if not force:
            raise UndoFailed(
                f"Nothing was changed: what is there now cannot be kept ({error.strerror}). "
                "--force does it all the same."
            ) from error
    try:
        yield turn, None if turn is None else turn.folder / "blobs"
    finally:
        if turn is not None:
            turn.close()


def _with_parents(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps, and the folders that are missing on the way to what comes back."""
    known = {step.path for step in steps}
    missing: dict[Path, Step] = {}
    for step in steps:
        for folder in new_parents(step.path) if step.then.kind != "absent" else ():
            if folder not in known:
                missing[folder] = Step(folder, ABSENT, FOLDER)
    return (*missing.values(), *steps)


def _apply(steps: Sequence[Step], done: Done) -> None:
    """Make the steps, in an order in which each can be made."""
    deep = sorted(steps, key=lambda step: len(step.path.parts), reverse=True)
    for step in deep:
        if step.now.kind not in ("absent", step.then.kind):
            _check(step)
            _take_away(step, done)
    for step in reversed(deep):
        if step.then.kind != "absent":
            _put_back(step, done)
    for step in deep:
        # Last, since nothing can be put into a folder that takes nothing.
        if step.then.kind == "folder" and step.then.mode is not None:
            step.path.chmod(step.then.mode)


def _check(step: Step) -> None:
    """Someone else may have been quicker."""
    if not state_of(step.path).same(step.now):
        raise OSError(None, "changed at this moment", os.fspath(step.path))


def _take_away(step: Step, done: Done) -> None:
    if step.now.kind != "folder":
        step.path.unlink()
        done.steps.append(step)
        return
    try:
        step.path.rmdir()
    except OSError:
        if step.then.kind != "absent" or not any(step.path.iterdir()):
            raise
        done.kept.append(step.path)
    else:
        done.steps.append(step)


def _put_back(step: Step, done: Done) -> None:
    stands = step.now.kind == step.then.kind
    if stands:
        _check(step)
    done.steps.append(step)
    if step.then.kind == "folder":
        if not stands:
            step.path.mkdir(mode=0o700 if step.then.mode is not None else 0o777)
        return
    if step.then.kind == "file" and step.blob is None:
        if step.then.mode is not None:
            step.path.chmod(step.then.mode)
        return
    spare = step.path.parent / f".agent_magics-{os.urandom(8).hex()}.tmp"
    try:
        if step.then.kind == "link":
            spare.symlink_to(step.then.target)
        else:
            _copied(step, spare)
        if not stands and os.path.lexists(step.path):
            raise OSError(None, "changed at this moment", os.fspath(step.path))
        spare.replace(step.path)
    finally:
        spare.unlink(missing_ok=True)


def _copied(step: Step, spare: Path) -> None:
    assert step.blob is not None
    handle = os.open(
        spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
    )
    with os.fdopen(handle, "wb") as file, unfollowed(step.blob) as copy:
        shutil.copyfileobj(copy, file)
        file.flush()
        os.fsync(file.fileno())
    if state_of(spare).digest != step.then.digest:
        raise OSError(None, "its copy is damaged", os.fspath(step.path))
    if step.then.mode is not None:
        spare.chmod(step.then.mode)


def _back_again(done: Done, blobs: Path | None, error: BaseException) -> str:
    """Put back what was changed before it had to stop; says how that went."""
    reason = "interrupted"
    if isinstance(error, OSError):
        name = error.filename if isinstance(error.filename, str) else "the disk"
        reason = f"{printable(Path(name).name)}: {error.strerror}"
    lost: list[str] = []
    for step in reversed(done.steps):
        try:
            now = state_of(step.path)
            if now.same(step.now):
                continue
            blob = None
            if step.now.kind == "file" and now.content != step.now.content:
                blob = None if blobs is None else blobs / step.now.digest
                if blob is None:
                    raise FileNotFoundError
            _apply([Step(step.path, now, step.now, blob)], Done())
        except OSError:
            lost.append(printable(os.fspath(step.path)))
    if lost:
        return f"The undo stopped halfway ({reason}), and is not put back: {', '.join(lost)}."
    return f"Nothing was undone ({reason}); everything is as it was."

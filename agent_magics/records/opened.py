"""The sessions that one kernel has open: each with its recorder, and how one is taken up again.

Knows no front end and no skill on disk: what a person has to be told comes back as values.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agent_magics.policy import Rule
from agent_magics.records.archive import Archive, Summary
from agent_magics.records.encoding import Redact
from agent_magics.records.journal import InUse, Journal
from agent_magics.records.recorder import Recorder, Written
from agent_magics.records.stored import Stored
from agent_magics.session import Session


@dataclass(frozen=True, slots=True)
class Resumed:
    """A session that was taken up again.

    Args:
        session: With its conversation, its tokens, and its rules but for what they allowed.
        stored: All that the file told.
        withheld: What had been allowed in it; a person has to say so again.
        copy: Why it goes on in a new file, if it does.
    """

    session: Session
    stored: Stored
    withheld: tuple[Rule, ...] = ()
    copy: str = ""


@dataclass(slots=True)
class Records:
    """The sessions of one kernel as they are written, and the archive of all.

    Args:
        archive: Where they lie.
        discreet: Gives, afresh for each turn, what takes secrets out of a text.
        days: After how many days without a turn sessions are removed; 0: never.
    """

    archive: Archive
    discreet: Callable[[], Redact]
    days: Callable[[], int]
    _recorders: dict[str, Recorder] = field(default_factory=dict)
    _expired: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def recorder(self, session: Session, folder: str) -> Recorder:
        """The recorder of a session; a session that has none gets one, and an id.

        Args:
            session: What will be written.
            folder: The workspace it is held in.
        """
        with self._lock:
            if not self._expired:
                self._expired = True
                self.archive.expire(self.days())
            known = self._recorders.get(session.id)
            if known is not None and known.session is session:
                return known
            head = self.archive.new_head(session.name, folder)
            return self._kept(Recorder(session, self.archive, head, self.discreet))

    def of(self, session: Session) -> Recorder | None:
        """The recorder of a session that was written before."""
        known = self._recorders.get(session.id)
        return known if known is not None and known.session is session else None

    def resume(self, summary: Summary, folder: str) -> Resumed:
        """Take a stored session up again.

        One that another kernel has open, or that cannot be written, goes on in a copy.

        Args:
            summary: Which.
            folder: The workspace, for a copy.

        Raises:
            UsageProblem: It cannot be read.
        """
        # Read before anything is mended: a file of a newer version must stay as it is.
        head = self.archive.read(summary).head
        journal, copy = self._opened(summary)
        stored = self.archive.read(summary)
        if journal is None:
            head = self.archive.new_head(stored.name, folder, parent=summary.id)
            with contextlib.suppress(OSError):  # the first turn tries again, and says why not
                journal = self.archive.copy(summary.path, head)
        session = Session(
            stored.name, conversation=stored.conversation, usage=stored.usage, cost=stored.cost
        )
        strict = tuple(rule for rule in stored.rules if rule.decision != "allow")
        session.policy = session.policy.replacing("session", strict)
        written = Written(stored.recorded, stored.rules, stored.skills, stored.name)
        if journal is None:
            written = Written()
        with self._lock:
            self._kept(Recorder(session, self.archive, head, self.discreet, journal, written))
        withheld = tuple(rule for rule in stored.rules if rule.decision == "allow")
        return Resumed(session, stored, withheld, copy)

    def fork(self, session: Session, name: str, folder: str) -> tuple[Session, Recorder]:
        """A second session with all that the first has, in a file of its own.

        Args:
            session: Stays as it is.
            name: Of the new one.
            folder: The workspace.
        """
        before = self.of(session)
        fresh = forked(session, name)
        head = self.archive.new_head(name, folder, parent=session.id)
        journal: Journal | None = None
        written: Written | None = None
        with self._lock:
            if before is not None and before.journal is not None:
                before.save()
                with contextlib.suppress(OSError):  # then it is written afresh, or says why not
                    journal = self.archive.copy(before.journal.path, head)
                    # The lines that were copied name it as the first is named.
                    written = replace(before.written, name="")
            recorder = Recorder(fresh, self.archive, head, self.discreet, journal, written)
            self._kept(recorder)
        recorder.save()
        return fresh, recorder

    def release(self, session: Session) -> None:
        """Give the file of a session free: its conversation is no longer here."""
        with self._lock:
            known = self._recorders.pop(session.id, None)
        if known is not None:
            known.close()

    def close(self) -> None:
        """Give all files free."""
        with self._lock:
            recorders = list(self._recorders.values())
            self._recorders.clear()
        for recorder in recorders:
            recorder.close()

    def _opened(self, summary: Summary) -> tuple[Journal | None, str]:
        """The session's file, or why it goes on in another one."""
        try:
            return Journal.opened(summary.path), ""
        except InUse:
            return None, "another kernel has it open"
        except OSError as error:
            return None, f"its file cannot be written: {error.strerror or error}"

    def _kept(self, recorder: Recorder) -> Recorder:
        recorder.session.id = recorder.head.id
        self._recorders[recorder.head.id] = recorder
        return recorder


def forked(session: Session, name: str) -> Session:
    """A second session with all that the first has; what one changes the other does not see."""
    return replace(
        session,
        name=name,
        id="",
        found_tools=set(session.found_tools),
        refusals=list(session.refusals),
    )

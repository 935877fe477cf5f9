"""The states of a cell that the documentation shows: what is asked, what is said and clicked.

Owns the words in the pictures. `docs/screenshots.py` takes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from tests.lab_endpoint import Says

Drive = Callable[[Any, int], None]


def ended(page: Any, cell: int) -> None:
    page.wait_idle(cell)


def asked(page: Any, cell: int) -> None:
    page.armed(cell, "Approve")


def approved(*labels: str) -> Drive:
    """Click these buttons in their order, then wait for the end."""

    def drive(page: Any, cell: int) -> None:
        for label in labels:
            page.click(cell, label)
        page.wait_idle(cell)

    return drive


def denied(reason: str) -> Drive:
    """Refuse, and say why."""

    def drive(page: Any, cell: int) -> None:
        page.click(cell, "Deny…")
        page.output(cell).get_by_role("textbox").fill(reason)
        page.click(cell, "Deny")
        page.wait_idle(cell)

    return drive


def interrupted(page: Any, cell: int) -> None:
    page.wait_text(cell, "The report adds")
    page.select(cell)
    page.press("i i")
    page.wait_idle(cell)


def until(text: str, *labels: str) -> Drive:
    """Click, then wait for a text."""

    def drive(page: Any, cell: int) -> None:
        for label in labels:
            page.click(cell, label)
        page.wait_text(cell, text)

    return drive


@dataclass(frozen=True, slots=True)
class State:
    """One picture.

    Args:
        name: Of the file, without its ending.
        caption: What it shows, in one sentence.
        cells: Run one after the other; the last one is driven.
        says: What the model answers, one for each request.
        drive: Brings the last cell into the state.
        setup: Further lines of the cell that loads the extension.
        unfolded: Which folds of the last cell are open, by their number.
        look: How the page is drawn.
        first: The first cell in the picture.
    """

    name: str
    caption: str
    cells: tuple[str, ...]
    says: tuple[Says, ...] = ()
    drive: Drive = ended
    setup: str = ""
    unfolded: tuple[int, ...] = ()
    look: Literal["light", "dark", "contrast", "narrow"] = "light"
    first: int = 1


ANSWER = """\
The report sums **whole cents**, so nothing is rounded:

```python
def month_total(orders: list[Order], month: str) -> int:
    \"\"\"What was taken in a month, in cents.\"\"\"
    return sum(order.cents for order in orders if order.month == month)
```

| month | orders | cents |
|---|--:|--:|
| 2026-07 | 3 | 3980 |
| 2026-08 | 3 | 3790 |
| 2026-09 | 3 | 7450 |

The mean order is $\\bar{c} = \\frac{1}{n}\\sum_{i=1}^{n} c_i$ cents."""
THOUGHT = (
    "The person asks how the report adds up. I should look at shop/report.py and at the data "
    "before I answer. The sums are integers, so rounding cannot happen here."
)
LOOKS = (
    ("ls", {"path": "shop"}),
    ("read", {"path": "shop/report.py"}),
    ("grep", {"pattern": "cents", "path": "shop/orders.py"}),
    ("read", {"path": "shop/rapport.py"}),
)
FIX = (
    "edit",
    {
        "path": "shop/report.py",
        "old": "    return sorted(totals.items(), key=lambda pair: pair[1])[:count]",
        "new": "    return totals.most_common(count)",
    },
)
FINDINGS = (
    "report_findings",
    {
        "findings": [
            {
                "file": "shop/report.py",
                "line": 24,
                "severity": "high",
                "category": "wrong result",
                "message": "`top_customers` returns the customers who spent least: it sorts "
                "ascending and takes the first `count`.",
                "suggestion": "    return totals.most_common(count)",
            },
            {
                "file": "shop/prices.py",
                "line": 16,
                "end_line": 17,
                "severity": "high",
                "category": "wrong result",
                "message": "`split_bill` loses cents: each share is rounded down and the "
                "remainder is dropped.",
                "suggestion": "    share, rest = divmod(cents, people)\n"
                "    return [share + 1] * rest + [share] * (people - rest)",
            },
            {
                "file": "shop/prices.py",
                "line": 14,
                "severity": "low",
                "category": "tests",
                "message": "`split_bill` has no test.",
            },
        ]
    },
)
REVIEW = (
    Says("I read the changes.", (("git_diff", {}),)),
    Says("Two suspicions; I check them against the files.", (FINDINGS,)),
    Says("Two functions are new, and each has a bug."),
)
BUILD = """\
import time
for part in ("orders", "prices", "report"):
    print("checking", part, flush=True)
while True:
    time.sleep(1)
"""
RUNS = ("run_shell", {"command": "python check.py"})


def plan(*states: str) -> tuple[str, Any]:
    steps = ("Read the report", "Mend top_customers", "Add a test", "Run the tests")
    pairs = zip(steps, states, strict=True)
    return ("todo", {"plan": [{"step": step, "state": state} for step, state in pairs]})


ASK = "%%agent\nHow does the report add up?"
MEND = "%%agent\nMend top_customers."
CELL = "sum(price for price in prices if price)"
WRITES = f"open('check.py', 'w').write({BUILD!r})"
REVIEWED = "%use code-review\n%agent allow git_diff\n%agent allow report_findings"
CARD = (Says("The sort is the wrong way round. I mend it.", (LOOKS[1], FIX)), Says("Mended."))

STATES: tuple[State, ...] = (
    State(
        "readme",
        "A review: its findings as a table, then an approval card for the fix.",
        ("%%agent\nReview my uncommitted changes.", "%unuse", MEND),
        (*REVIEW, *CARD),
        asked,
        REVIEWED,
    ),
    State("answer", "An answer with code, a table and a formula.", (ASK,), (Says(ANSWER),)),
    State("answer-dark", "The same in the dark.", (ASK,), (Says(ANSWER),), look="dark"),
    State(
        "reasoning",
        "A model's reasoning is folded away; here it is unfolded.",
        (ASK,),
        (Says("It adds whole cents.", reasoning=THOUGHT),),
        unfolded=(0,),
    ),
    State(
        "calls",
        "Each call is one line; one is unfolded, one failed.",
        (ASK,),
        (Says("I look.", LOOKS), Says("It adds whole cents.")),
        unfolded=(1,),
    ),
    State(
        "running",
        "A command runs; its newest lines are below it.",
        ("%%agent\nCheck the shop.",),
        (Says("I run the check.", (RUNS,)), Says("All three parts are checked.")),
        until("checking report"),
        f"{WRITES}\n%agent allow run_shell",
    ),
    State(
        "approval",
        "An approval card, with the whole of the change.",
        (MEND,),
        CARD,
        asked,
    ),
    State("approval-dark", "The same in the dark.", (MEND,), CARD, asked, look="dark"),
    State("approval-contrast", "The same in high contrast.", (MEND,), CARD, asked, look="contrast"),
    State(
        "approval-narrow",
        "The same, 320 pixels wide.",
        (MEND,),
        CARD,
        asked,
        look="narrow",
    ),
    State(
        "approval-edit",
        "Edit, then run: the arguments are changed before the call runs.",
        (MEND,),
        CARD,
        until("Run edited", "Edit…"),
    ),
    State(
        "approved",
        "What stays of the card: one line, that unfolds to the change.",
        (MEND,),
        CARD,
        approved("Approve"),
        unfolded=(1,),
    ),
    State(
        "refused",
        "A call that was refused, with the reason that the model reads.",
        (MEND,),
        (CARD[0], Says("Then I leave it as it is.")),
        denied("Only the sort, please; keep the function's form."),
    ),
    State(
        "plan",
        "A plan that changes as the work goes on.",
        (MEND,),
        (
            Says("", (plan("active", "pending", "pending", "pending"),)),
            Says("", (LOOKS[1],)),
            Says("", (plan("done", "active", "pending", "dropped"),)),
            Says("I know what to do."),
        ),
    ),
    State(
        "sub-agent",
        "A sub-agent worked on a part; its calls and its answer are in the fold.",
        ("%%agent\nWhere are orders read?",),
        (
            Says("I have it looked up.", (("delegate", {"task": "Find where orders are read."}),)),
            Says("", (("grep", {"pattern": "def read_orders", "path": "shop"}),)),
            Says("In `shop/orders.py`, by `read_orders`."),
            Says("`read_orders` in `shop/orders.py` reads them."),
        ),
        unfolded=(0,),
    ),
    State(
        "retry",
        "The server was busy, and was asked again.",
        (ASK,),
        (Says("The server is busy", status=503, retry=True), Says("It adds whole cents.")),
    ),
    State(
        "compacted",
        "An older part of the conversation was shortened.",
        (ASK, ASK, "%agent compact"),
        (
            *(Says(ANSWER + "\n" + "More of it. " * 900) for _ in range(2)),
            Says("They asked how the report adds up."),
        ),
        first=3,
    ),
    State(
        "limit",
        "A turn that came to a limit sums up, and says how to go on.",
        ("%%agent --max-turns 1\nHow does the report add up?",),
        (Says("", LOOKS[:2]), Says("So far: the report adds whole cents.")),
    ),
    State(
        "error",
        "A turn that failed says what happened and what to do.",
        (ASK,),
        (Says("this model takes no tools", status=400),),
    ),
    State(
        "interrupted",
        "An interrupt ends the cell; what was done is kept.",
        (ASK,),
        (Says("The report adds whole cents, and that is why nothing is lost.", hold=True),),
        interrupted,
    ),
    State(
        "attached",
        "The failed cell went with the prompt; the line unfolds to what was sent.",
        ("prices = [450, None]\nsum(prices)", "%%agent\nWhy?"),
        (Says("One price is missing: `None` cannot be added."),),
        unfolded=(0,),
    ),
    State(
        "proposed",
        "A proposed cell, to be read and put into the notebook.",
        ("%%agent\nPropose a cell that sums the prices.",),
        (
            Says(
                "", (("propose_cell", {"source": "sum(p for p in prices if p)", "kind": "code"}),)
            ),
            Says("The cell below leaves missing prices out."),
        ),
    ),
    State(
        "findings",
        "Findings of a review; one is unfolded.",
        ("%%agent\nReview my uncommitted changes.",),
        REVIEW,
        setup=REVIEWED,
        unfolded=(2,),
    ),
    State("skills", "The skills on this machine.", ("%skills",)),
)


def named(name: str) -> State:
    """The state of this name; ends the program with the names there are."""
    found = [state for state in STATES if state.name == name]
    if not found:
        raise SystemExit(
            f"There is no state {name!r}; there are: {', '.join(s.name for s in STATES)}"
        )
    return found[0]

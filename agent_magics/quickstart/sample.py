"""A small repository with an uncommitted change in which two bugs are planted.

It gives new users, the demonstration and the tests the same ground: eight files, one commit, and a
change on top. Nothing of it depends on the machine.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from agent_magics.errors import AgentMagicsError

DATE = "2026-10-01T12:00:00+0000"
COMMITTED: dict[str, str] = {
    "README.md": """\
# corner-shop

Prices, orders and a monthly report for a small shop. All money is in whole cents.

- `shop/prices.py`: discounts and tax
- `shop/orders.py`: reading orders from CSV
- `shop/report.py`: the monthly report
- `data/orders.csv`: three months of orders
""",
    "AGENTS.md": """\
# For agents that work here

- Money is an `int` of cents, never a float.
- Every public function has a docstring and a test.
""",
    "pyproject.toml": """\
[project]
name = "corner-shop"
version = "0.1.0"
requires-python = ">=3.11"
""",
    "shop/__init__.py": '"""A small shop: prices, orders, reports."""\n',
    "shop/prices.py": '''\
"""Prices in whole cents."""


def discounted(cents: int, percent: int) -> int:
    """The price after a discount, rounded in the customer's favour."""
    return cents * (100 - percent) // 100


def with_tax(cents: int, percent: int = 20) -> int:
    """The price with tax, rounded to the nearest cent."""
    return (cents * (100 + percent) + 50) // 100
''',
    "shop/orders.py": '''\
"""Orders, read from a CSV file."""

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Order:
    """One line of the shop's books; `cents` is the price of all pieces together."""

    month: str
    customer: str
    item: str
    pieces: int
    cents: int


def read_orders(path: Path) -> list[Order]:
    """All orders of a file, in its order."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Order(row["month"], row["customer"], row["item"], int(row["pieces"]), int(row["cents"]))
            for row in csv.DictReader(file)
        ]
''',
    "shop/report.py": '''\
"""The monthly report."""

from collections import Counter

from shop.orders import Order


def month_total(orders: list[Order], month: str) -> int:
    """What was taken in a month, in cents."""
    return sum(order.cents for order in orders if order.month == month)


def customer_totals(orders: list[Order]) -> Counter[str]:
    """What each customer spent, in cents."""
    totals: Counter[str] = Counter()
    for order in orders:
        totals[order.customer] += order.cents
    return totals
''',
    "data/orders.csv": """\
month,customer,item,pieces,cents
2026-07,Ada,tea,3,1350
2026-07,Ben,coffee,1,890
2026-07,Cleo,honey,2,1740
2026-08,Ada,tea,1,450
2026-08,Dan,bread,4,1560
2026-08,Ben,coffee,2,1780
2026-09,Cleo,honey,5,4350
2026-09,Ada,cake,1,2200
2026-09,Eve,tea,2,900
""",
}

CHANGED: dict[str, str] = {
    "shop/prices.py": COMMITTED["shop/prices.py"]
    + '''

def split_bill(cents: int, people: int) -> list[int]:
    """What each of several people pays; the parts add up to the bill."""
    share = cents // people
    return [share] * people
''',
    "shop/report.py": COMMITTED["shop/report.py"]
    + '''

def top_customers(orders: list[Order], count: int = 3) -> list[tuple[str, int]]:
    """The customers who spent most, with what they spent, the best first."""
    totals = customer_totals(orders)
    return sorted(totals.items(), key=lambda pair: pair[1])[:count]
''',
}


def sample_repository(parent: Path | str | None = None) -> Path:
    """Make the repository in a new temporary folder and give its path.

    Args:
        parent: The folder to make it in; the system's temporary folder if not given.

    Raises:
        AgentMagicsError: git is missing or fails; the message says how.
    """
    # A folder of its own in the new one: its name, which outputs show, is the same everywhere.
    root = Path(tempfile.mkdtemp(prefix="agent-magics-", dir=parent)) / "corner-shop"
    _write(root, COMMITTED)
    _git(root, "init", "--quiet", "--initial-branch=main")
    # Who runs the sample's code does not want its bytecode in a review.
    _write(root, {".git/info/exclude": "__pycache__/\n"})
    _git(root, "add", "--all")
    _git(root, "commit", "--quiet", "--message", "A small shop")
    _write(root, CHANGED)
    return root


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


def _git(root: Path, *words: str) -> None:
    """Run git with nothing of the user's own configuration that could stop or change a commit."""
    settings = {
        "user.name": "Sample",
        "user.email": "sample@example.invalid",
        "commit.gpgsign": "false",
        "core.hooksPath": "/dev/null",
        "core.autocrlf": "false",
    }
    options = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
    try:
        subprocess.run(  # noqa: S603  # constant words
            ["git", *options, *words],  # noqa: S607  # git is found on PATH, as everywhere
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
            encoding="utf-8",
            # A fixed date: the commit's id is the same everywhere, so that outputs can be compared.
            env={**os.environ, "GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE},
        )
    except FileNotFoundError as error:
        raise AgentMagicsError("git is not installed; the sample repository needs it.") from error
    except subprocess.CalledProcessError as error:
        raise AgentMagicsError(f"git {words[0]} failed: {error.stderr.strip()}") from error

"""The folders that tasks work in: a shop's package, a folder of measurements, a fleet's package."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

SHOP = {
    "README.md": (
        "# corner-shop\n\n"
        "Bookkeeping for a small corner shop: carts, discounts, receipts by e-mail and a daily\n"
        "sales report. Suppliers recieve their orders every Monday.\n\n"
        "## Use\n\n    corner-report data/orders.csv\n\n"
        "prints the report of the day. See `shop/report.py`.\n"
    ),
    "pyproject.toml": (
        '[project]\nname = "corner-shop"\nversion = "1.4.2"\n'
        'dependencies = ["python-dateutil"]\n\n'
        '[project.scripts]\ncorner-report = "shop.report:main"\n'
    ),
    "shop/__init__.py": '"""Bookkeeping for a corner shop."""\n',
    "shop/cart.py": (
        '"""Carts: what a customer is about to buy."""\n\n'
        "from shop.prices import reduced\n\n\n"
        "class Cart:\n"
        '    """Articles with their prices in cents."""\n\n'
        "    def __init__(self):\n        self.lines = []\n\n"
        "    def add(self, article, cents, count=1):\n"
        '        """Put an article into the cart."""\n'
        "        self.lines.append((article, cents, count))\n\n"
        "    def total(self, code=None):\n"
        '        """The sum in cents, reduced by a discount code."""\n'
        "        full = sum(cents * count for _, cents, count in self.lines)\n"
        "        return reduced(full, code)\n"
    ),
    "shop/prices.py": (
        '"""Prices: discounts and taxes."""\n\n'
        'RATES = {"SPRING": 10, "STAFF": 25, "LOYAL": 5}\n'
        "TAX = 19\n\n\n"
        "def percent_of_code(code):\n"
        '    """The discount in percent that a code stands for; 0 for an unknown one."""\n'
        '    return RATES.get((code or "").strip().upper(), 0)\n\n\n'
        "def reduced(cents, code):\n"
        '    """A price after its discount, in cents."""\n'
        "    return cents * (100 - percent_of_code(code)) // 100\n"
    ),
    "shop/due.py": (
        '"""Due dates of invoices."""\n\n'
        "import datetime\n\n"
        'WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday")\n\n\n'
        "def from_phrase(phrase, today):\n"
        '    """Turn words such as "next friday" or "in 3 weeks" into a date."""\n'
        "    words = phrase.lower().split()\n"
        '    if words[0] == "in":\n'
        "        return today + datetime.timedelta(weeks=int(words[1]))\n"
        "    ahead = (WEEKDAYS.index(words[-1]) - today.weekday()) % 7 or 7\n"
        "    return today + datetime.timedelta(days=ahead)\n"
    ),
    "shop/mail.py": (
        '"""Receipts by e-mail."""\n\n'
        "import smtplib\n\n\n"
        "def send_receipt(address, text, host):\n"
        '    """Send a customer the receipt of a purchase."""\n'
        "    with smtplib.SMTP(host) as server:\n"
        '        server.sendmail("shop@example.org", [address], text)\n'
    ),
    "shop/storage.py": (
        '"""Where orders are kept: one JSON file for each day."""\n\n'
        "import json\n\n"
        "LOCK_SECONDS = 45\n\n\n"
        "def save(path, orders):\n"
        '    """Write the orders of a day."""\n'
        '    with open(path, "w", encoding="utf-8") as file:\n'
        "        json.dump(orders, file)\n\n\n"
        "def load(path):\n"
        '    """Read the orders of a day."""\n'
        '    with open(path, encoding="utf-8") as file:\n'
        "        return json.load(file)\n"
    ),
    "shop/report.py": (
        '"""The daily report of sales, on the command line."""\n\n'
        "import csv\nimport sys\n\n\n"
        "def main():\n"
        '    """Print the sum of each article."""\n'
        "    sums = {}\n"
        '    with open(sys.argv[1], encoding="utf-8") as file:\n'
        "        for row in csv.DictReader(file):\n"
        '            sums[row["article"]] = sums.get(row["article"], 0) + int(row["cents"])\n'
        "    for article, cents in sorted(sums.items()):\n"
        '        print(f"{article}: {cents / 100:.2f}")\n'
    ),
    "tests/test_cart.py": (
        '"""Carts and discounts."""\n\nfrom shop.cart import Cart\n\n\n'
        "def test_a_code_reduces_the_total():\n"
        '    cart = Cart()\n    cart.add("tea", 1000)\n    assert cart.total("SPRING") == 900\n'
    ),
    "data/orders.csv": (
        "order,article,cents\n1,tea,350\n2,bread,420\n3,tea,350\n4,honey,890\n5,bread,420\n"
        "6,tea,360\n7,soap,230\n"
    ),
}

READINGS = [
    ("S1", "2024-05-01", 12.5, 60), ("S1", "2024-05-02", 14.0, 55), ("S1", "2024-05-03", 13.1, 71),
    ("S2", "2024-05-01", 9.8, 80), ("S2", "2024-05-02", 10.4, 77), ("S2", "2024-05-03", 8.9, 83),
    ("S2", "2024-05-04", 11.3, 70), ("S3", "2024-05-01", 18.2, 41), ("S3", "2024-05-02", 19.6, 38),
    ("S3", "2024-05-03", 17.0, 45), ("S3", "2024-05-04", 16.4, 47),
]  # fmt: skip


def _cell(kind: str, source: str, outputs: list[dict[str, object]] | None = None) -> dict:
    cell: dict[str, object] = {"cell_type": kind, "id": f"c{len(source)}", "metadata": {}}
    cell["source"] = source
    if kind == "code":
        cell |= {"execution_count": 1, "outputs": outputs or []}
    return cell


_ERROR = {
    "output_type": "error",
    "ename": "KeyError",
    "evalue": "'pressure'",
    "traceback": ["KeyError: 'pressure'"],
}
_BOOK = {
    "cells": [
        _cell("markdown", "# Weather at three stations"),
        _cell("code", "import csv\nimport statistics"),
        _cell("code", "rows = list(csv.DictReader(open('readings.csv')))"),
        _cell("markdown", "## Means"),
        _cell("code", "statistics.mean(float(r['celsius']) for r in rows)"),
        _cell("code", "[r['pressure'] for r in rows]", [_ERROR]),
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
WEATHER = {
    "NOTES.md": (
        "# Weather readings\n\nThree stations, one reading a day. S1 is the harbour, S2 the\n"
        "mountain hut, S3 the airport.\n"
    ),
    "readings.csv": "station,day,celsius,humidity\n"
    + "".join(f"{s},{day},{c},{h}\n" for s, day, c, h in READINGS),
    "logger.json": json.dumps({"interval_minutes": 35, "unit": "celsius", "retries": 4}, indent=1),
    "analysis.ipynb": json.dumps(_BOOK, indent=1) + "\n",
}

TRIPS = [
    ("V1", 120), ("V2", 44), ("V3", 310), ("V1", 87), ("V3", 55), ("V2", 61), ("V2", 18),
    ("V3", 142), ("V2", 93), ("V1", 205), ("V2", 70),
]  # fmt: skip
FLEET = {
    "README.md": (
        "# fleetwatch\n\nFollows the delivery vans of a company: where they are, how fast they "
        "drive and when\nthey must go to the workshop.\n"
    ),
    "setup.cfg": "[metadata]\nname = fleetwatch\nversion = 0.9.7\n\n"
    "[options.entry_points]\nconsole_scripts =\n    fleetwatch = fleetwatch.watch:run\n",
    "fleetwatch/__init__.py": '"""Follows delivery vans."""\n',
    "fleetwatch/positions.py": (
        '"""Positions on the globe."""\n\n'
        "from math import asin, cos, radians, sin, sqrt\n\n\n"
        "def kilometres_between(a, b):\n"
        '    """The distance between two (latitude, longitude) pairs along a great circle."""\n'
        "    (la, lo), (lb, lp) = (map(radians, a), map(radians, b))\n"
        "    h = sin((lb - la) / 2) ** 2 + cos(la) * cos(lb) * sin((lp - lo) / 2) ** 2\n"
        "    return 2 * 6371 * asin(sqrt(h))\n"
    ),
    "fleetwatch/rules.py": (
        '"""What drivers must keep to."""\n\n'
        "TOP_SPEED = 85\nREST_AFTER_HOURS = 4\n\n\n"
        "def too_fast(speed):\n"
        '    """Whether a van drives faster than it may."""\n'
        "    return speed > TOP_SPEED\n"
    ),
    "fleetwatch/workshop.py": (
        '"""When vans must go to the workshop."""\n\n\n'
        "def service_due(kilometres):\n"
        '    """Whether the next service is due."""\n'
        "    return kilometres >= 15000\n"
    ),
    "fleetwatch/watch.py": (
        '"""The command that follows the vans."""\n\n\n'
        "def run():\n"
        '    """Print each van with its state."""\n'
        '    print("watching")\n'
    ),
    "trips.csv": "trip,van,kilometres\n"
    + "".join(f"{i},{van},{km}\n" for i, (van, km) in enumerate(TRIPS, start=1)),
    "survey.ipynb": json.dumps(
        {
            **_BOOK,
            "cells": [
                _cell("markdown", "# Survey of the vans"),
                _cell("code", "import json\nfrom collections import Counter"),
                _cell("code", "Counter(['V1', 'V2'])"),
            ],
        }
    ),
}


def filled(files: Mapping[str, str]) -> Callable[[Path], None]:
    """Writes these files into an empty folder."""

    def world(folder: Path) -> None:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return world


def changed(files: Mapping[str, str], path: str, old: str, new: str) -> Callable[[Path], None]:
    """The files as a repository whose last commit has `old` where now `new` stands."""

    def world(folder: Path) -> None:
        assert files[path].count(old) == 1, (path, old)
        filled(files)(folder)
        _git(folder, "init", "-q")
        _git(folder, "add", "-A")
        _git(folder, "commit", "-q", "-m", "state")
        (folder / path).write_text(files[path].replace(old, new), encoding="utf-8")

    return world


def _git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=tasks", "-c", "user.email=tasks@example.org")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


shop = filled(SHOP)
weather = filled(WEATHER)
fleet = filled(FLEET)

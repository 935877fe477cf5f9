"""The tasks. A third of them, and the last wording of each, are held out of tuning."""

from __future__ import annotations

import datetime
import re
import statistics

from benchmarks.tasks.task import (
    Outcome,
    Task,
    at_least,
    every,
    facts,
    holds,
    no_call,
    nothing_invented,
    number,
    unchanged_but,
)
from benchmarks.tasks.worlds import (
    FLEET,
    READINGS,
    SHOP,
    TRIPS,
    WEATHER,
    changed,
    fleet,
    shop,
    weather,
)

_PRIMES = sum(n for n in range(2, 1000) if all(n % d for d in range(2, int(n**0.5) + 1)))
_DAYS = (datetime.date(2024, 11, 2) - datetime.date(2023, 3, 15)).days
_SEVENS = sum(1 for n in range(1, 5001) if n % 7 == 0 and n % 5)
_HUT = round(statistics.mean(c for s, _, c, _ in READINGS if s == "S2"), 2)
_V3 = sum(km for van, km in TRIPS if van == "V3")


def names_the_busiest(outcome: Outcome) -> str:
    """The first van in the sentence about the most trips must be V2."""
    sentences = re.split(r"[.\n](?:\s|$)", outcome.answer)
    about = [s for s in sentences if re.search("most", s, re.IGNORECASE)] or [outcome.answer]
    named = re.findall(r"V\d", " ".join(about))
    return "" if named[:1] == ["V2"] else f"names {named[0] if named else 'none'}"


EXPLORE = (
    Task(
        "explore-shop", "explore", shop,
        (
            "What is this project for, and which modules does it have?",
            "Give me an overview of this code base: its purpose and its main modules.",
            "I have just cloned this. Explain what it does and what the Python files are for.",
        ),
        every(
            facts(("shop", "bookkeeping", "sales")),
            at_least(3, "cart", "prices", "due", "mail", "storage", "report",
                     "cart.py", "prices.py", "mail.py", "storage.py", "report.py"),
            nothing_invented,
        ),
    ),
    Task(
        "explore-command", "explore", shop,
        (
            "Which command does this project install, and which function does it start?",
            "What is the console script of this package called and what does it run?",
            "How do I start this program from the command line once it is installed?",
        ),
        facts("corner-report"),
    ),
    Task(
        "explore-data", "explore", weather,
        (
            "What data is in this folder, and which columns does it have?",
            "Describe the data files here: what is measured, in which columns?",
            "I was given this folder. What do the readings consist of?",
        ),
        at_least(3, "station", "day", "celsius", "humidity"),
    ),
    Task(
        "explore-fleet", "explore", fleet,
        (
            "What is this project for, and which modules does it have?",
            "Explain what the code in this folder does and how it is divided.",
            "Summarise this repository for a new colleague.",
        ),
        every(
            facts(("van", "vans", "vehicles", "delivery")),
            at_least(2, "positions", "rules", "workshop", "watch",
                     "positions.py", "rules.py", "workshop.py", "watch.py"),
            nothing_invented,
        ),
        held_out=True,
    ),
)  # fmt: skip

FIND = (
    Task(
        "find-discount", "find", shop,
        (
            "Which function turns a discount code into a percentage, and in which file is it?",
            "Where is a discount code looked up? Name the file and the function.",
            "Find the place that knows how many percent a code is worth: file and function name.",
        ),
        facts("percent_of_code", ("prices.py", "shop/prices.py", "prices")),
    ),
    Task(
        "find-phrase", "find", shop,
        (
            'Where are words like "next friday" turned into a date? Name the file and function.',
            "Which function understands phrases such as 'in 3 weeks'? In which file?",
            "To support 'tomorrow' as a due date: which function, in which file, must I extend?",
        ),
        facts("from_phrase", ("due.py", "shop/due.py", "due")),
    ),
    Task(
        "find-lock", "find", shop,
        (
            "How many seconds is a lock held by default, and which file says so?",
            "What is the value of LOCK_SECONDS, and where is it defined?",
            "Find the setting for the lock's duration: its value and its file.",
        ),
        every(number(45), facts(("storage.py", "shop/storage.py", "storage"))),
    ),
    Task(
        "find-distance", "find", fleet,
        (
            "Which function computes the distance between two places, and in which file?",
            "Where is the great-circle distance computed? Name file and function.",
            "How far apart are two vans: which function of which file tells?",
        ),
        facts("kilometres_between", ("positions.py", "fleetwatch/positions.py", "positions")),
        held_out=True,
    ),
    Task(
        "find-speed", "find", fleet,
        (
            "How fast may a van drive, and in which file is that set?",
            "What is the top speed in this code, and where is it defined?",
            "From which speed on is a driver too fast? Say the number and the file.",
        ),
        every(number(85), facts(("rules.py", "fleetwatch/rules.py", "rules"))),
        held_out=True,
    ),
)  # fmt: skip

EDIT = (
    Task(
        "edit-new", "edit", shop,
        (
            "Create a file hello.txt with the text: Hello, corner shop!",
            "Write the line 'Hello, corner shop!' into a new file named hello.txt.",
            "I need a file hello.txt whose content is Hello, corner shop!",
        ),
        every(
            holds("hello.txt", lambda text: text.strip() == "Hello, corner shop!"),
            unchanged_but(shop, "hello.txt"),
        ),
    ),
    Task(
        "edit-value", "edit", shop,
        (
            "Change LOCK_SECONDS in shop/storage.py from 45 to 60.",
            "In shop/storage.py, set LOCK_SECONDS to 60.",
            "The lock should last 60 seconds instead of 45. Make that change in shop/storage.py.",
        ),
        every(
            holds(
                "shop/storage.py",
                lambda text: text.strip() == SHOP["shop/storage.py"].replace("45", "60").strip(),
            ),
            unchanged_but(shop, "shop/storage.py"),
        ),
    ),
    Task(
        "edit-typo", "edit", shop,
        (
            "README.md has the typo 'recieve'. Correct it to 'receive'.",
            "Fix the spelling mistake 'recieve' in README.md.",
            "Replace the misspelt word recieve with receive in README.md and change nothing else.",
        ),
        every(
            holds(
                "README.md",
                lambda text: text.strip()
                == SHOP["README.md"].replace("recieve", "receive").strip(),
            ),
            unchanged_but(shop, "README.md"),
        ),
    ),
    Task(
        "edit-list", "edit", fleet,
        (
            "Create docs/todo.md with three bullet points: fuel, tyres, insurance.",
            "Write a Markdown list of fuel, tyres and insurance into the new file docs/todo.md.",
            "Please make docs/todo.md, a list with the items fuel, tyres and insurance.",
        ),
        every(
            holds(
                "docs/todo.md",
                lambda text: all(
                    any(line.lstrip().startswith(("-", "*")) and word in line.lower()
                        for line in text.splitlines())
                    for word in ("fuel", "tyres", "insurance")
                ),
            ),
            unchanged_but(fleet, "docs/todo.md"),
        ),
        held_out=True,
    ),
    Task(
        "edit-version", "edit", fleet,
        (
            "Change the version in setup.cfg from 0.9.7 to 1.0.0.",
            "Set the version to 1.0.0 in setup.cfg.",
            "We release 1.0.0: put that version into setup.cfg in place of 0.9.7.",
        ),
        every(
            holds(
                "setup.cfg",
                lambda text: text.strip() == FLEET["setup.cfg"].replace("0.9.7", "1.0.0").strip(),
            ),
            unchanged_but(fleet, "setup.cfg"),
        ),
        held_out=True,
    ),
)  # fmt: skip

COMPUTE = (
    Task(
        "compute-primes", "compute", shop,
        (
            "Compute the sum of all prime numbers below 1000 with Python.",
            "What is the sum of the primes smaller than 1000? Run code to find out.",
            "Add up all primes under one thousand; use a program, not your memory.",
        ),
        number(_PRIMES),
    ),
    Task(
        "compute-weekday", "compute", weather,
        (
            "On which day of the week was 14 March 1879? Compute it with Python.",
            "Use Python to find the weekday of 1879-03-14.",
            "Run code that tells me which weekday the 14th of March 1879 was.",
        ),
        facts("Friday"),
    ),
    Task(
        "compute-days", "compute", shop,
        (
            "How many days lie between 2023-03-15 and 2024-11-02? Compute it with Python.",
            "Compute the number of days from 15 March 2023 to 2 November 2024 by running code.",
            "With Python: how many days are there from 2023-03-15 until 2024-11-02?",
        ),
        number(_DAYS),
    ),
    Task(
        "compute-sevens", "compute", fleet,
        (
            "How many numbers from 1 to 5000 are divisible by 7 but not by 5? Compute with Python.",
            "Count, by running code, the multiples of 7 up to 5000 that 5 does not divide.",
            "Use a program: how many n with 1 <= n <= 5000 have n % 7 == 0 and n % 5 != 0?",
        ),
        number(_SEVENS),
        held_out=True,
    ),
)  # fmt: skip

DATA = (
    Task(
        "data-rows", "data", weather,
        (
            "How many readings (rows without the header) does readings.csv hold?",
            "Count the data rows of readings.csv; the header does not count.",
            "How many measurements are stored in readings.csv?",
        ),
        number(len(READINGS)),
    ),
    Task(
        "data-mean", "data", weather,
        (
            "What is the mean of celsius for station S2 in readings.csv?",
            "Compute the average temperature of station S2 from readings.csv.",
            "How warm is it at station S2 on average, according to readings.csv?",
        ),
        number(_HUT),
    ),
    Task(
        "data-setting", "data", weather,
        (
            "Which interval is set in logger.json, in minutes?",
            "How many minutes lie between two readings according to logger.json?",
            "Look into logger.json and tell me the interval of the logger.",
        ),
        number(35),
    ),
    Task(
        "data-sum", "data", fleet,
        (
            "How many kilometres did van V3 drive in total, according to trips.csv?",
            "Sum up the kilometres of van V3 in trips.csv.",
            "What is V3's total distance over all of its trips in trips.csv?",
        ),
        number(_V3),
        held_out=True,
    ),
    Task(
        "data-most", "data", fleet,
        (
            "Which van has the most trips in trips.csv?",
            "Count the trips of each van in trips.csv and name the van with the most.",
            "Which of the vans went out most often? The trips are in trips.csv.",
        ),
        names_the_busiest,
        held_out=True,
    ),
)  # fmt: skip


NOTEBOOK = (
    Task(
        "notebook-cells", "notebook", weather,
        (
            "How many code cells does the notebook analysis.ipynb have?",
            "Count the code cells (not the Markdown cells) of analysis.ipynb.",
            "Look at analysis.ipynb: how many of its cells are code?",
        ),
        every(
            number(sum('"code"' in cell for cell in WEATHER["analysis.ipynb"].split("cell_type"))),
        ),
    ),
    Task(
        "notebook-error", "notebook", weather,
        (
            "A cell of the notebook analysis.ipynb failed. Which error did it raise, and why?",
            "Which exception, with which message, stands in the outputs of analysis.ipynb?",
            "Something is wrong in analysis.ipynb: which error, and in which line of code?",
        ),
        facts("KeyError", "pressure"),
    ),
    Task(
        "notebook-imports", "notebook", fleet,
        (
            "Which modules does the notebook survey.ipynb import?",
            "List the imports of survey.ipynb.",
            "What does one need to have imported for survey.ipynb to run?",
        ),
        facts("json", ("collections", "Counter")),
        held_out=True,
    ),
)  # fmt: skip

PLAIN = (
    Task(
        "plain-csv", "plain", shop,
        (
            "What does the abbreviation CSV stand for?",
            "In general: what is the long form of CSV?",
            "Tell me what the three letters CSV mean.",
        ),
        every(facts(("comma-separated", "comma separated")), no_call),
    ),
    Task(
        "plain-capital", "plain", fleet,
        (
            "What is the capital of Austria?",
            "Which city is Austria's capital?",
            "Name the capital city of Austria.",
        ),
        every(facts(("Vienna", "Wien")), no_call),
        held_out=True,
    ),
)  # fmt: skip

_REVIEWS = (
    "Review my uncommitted changes.",
    "Is there a mistake in my uncommitted changes? Name the function and what is wrong.",
    "Look at the git diff before I commit it: what does it break?",
)
REVIEW = (
    Task(
        "review-sign", "review",
        changed(SHOP, "shop/prices.py", "(100 - percent", "(100 + percent"),
        _REVIEWS,
        every(
            facts("reduced"),
            facts(("increase", "increases", "increased", "adds", "added", "higher", "raises",
                   "more", "sign", "plus", "+", "addition", "instead of subtracting")),
        ),
    ),
    Task(
        "review-append", "review",
        changed(SHOP, "shop/storage.py", '"w"', '"a"'),
        _REVIEWS,
        every(
            facts(("append", "appends", "appended", "appending")),
            facts(("overwrite", "overwrites", "invalid", "corrupt", "duplicate", "json", "broken",
                   "two", "several", "multiple")),
        ),
    ),
    Task(
        "review-limit", "review",
        changed(FLEET, "fleetwatch/rules.py", "speed > TOP_SPEED", "speed < TOP_SPEED"),
        _REVIEWS,
        every(
            facts("too_fast"),
            facts(("inverted", "reversed", "opposite", "wrong", "slower", "below", "less than",
                   "incorrect", "flipped", "incorrectly")),
        ),
    ),
    Task(
        "review-check", "review",
        changed(
            SHOP, "shop/prices.py", '(code or "").strip().upper()', "code.strip().upper()"
        ),
        _REVIEWS,
        every(
            facts("percent_of_code"),
            facts(("None", "AttributeError", "missing", "no code", "empty")),
        ),
        held_out=True,
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (
    *EXPLORE, *FIND, *EDIT, *COMPUTE, *DATA, *NOTEBOOK, *PLAIN, *REVIEW,
)  # fmt: skip

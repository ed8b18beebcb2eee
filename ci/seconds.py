"""Seconds that a test of a module takes on average, by which the tests are divided among processes.

``python -m ci.seconds`` keeps those of the last runs (``var/test-all/*.jsonl``) in ``ci/seconds.json``. The file need
not be exact: it is written anew when the processes of a step no longer end at about the same time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ci.machine import REPOSITORY

FILE = Path(__file__).with_suffix(".json")
USUAL = 0.12  # seconds of a test of a module that is not in the file
LEAST = 2.0  # seconds of all tests of a module, from which on it is in the file
LONGEST_SETUP = 1.0  # what takes longer is the setup of a fixture of the whole session


def seconds_of_modules() -> Mapping[str, float]:
    """Returns the seconds of a test by the path of its module."""
    return json.loads(FILE.read_text())


def measured(reports: Path) -> dict[str, float]:
    """Returns the seconds of a test in the reports of a folder; of several reports, the most."""
    found: dict[str, float] = {}
    for report in sorted(reports.glob("*.jsonl")):
        tests: dict[str, dict[str, float]] = {}
        for line in report.open():
            item = json.loads(line)
            if item.get("$report_type") == "TestReport":
                of_module = tests.setdefault(item["nodeid"].partition("::")[0], {})
                taken = min(item["duration"], LONGEST_SETUP) if item["when"] == "setup" else item["duration"]
                of_module[item["nodeid"]] = of_module.get(item["nodeid"], 0.0) + taken
        for module, seconds in tests.items():
            if sum(seconds.values()) >= LEAST:
                found[module] = max(found.get(module, 0.0), round(sum(seconds.values()) / len(seconds), 2))
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(dict(sorted(measured(REPOSITORY / "var" / "test-all").items())), indent=0) + "\n")

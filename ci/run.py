"""Runner of steps. A test that fails runs once more, alone; what failed is printed at the end, with its reason.

``python -m ci.run gate`` is what ``.ci/run`` runs, ``python -m ci.run test-postgresql -k cables`` what
``make test-postgresql`` runs, with further arguments for pytest. The status is 1 when something failed and 2 when the
tests could not run.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, Any, cast

from ci.machine import REPOSITORY, RUN, Unfit, check_disk, process_mark
from ci.steps import Command, Pytest, Step, steps_of

RESULTS = REPOSITORY / "var" / "test-all"
MAX_UNSTABLE = 5  # tests of a run that may pass at their second attempt
LONGEST_REASON = 300  # characters
SOME_FAILED, NO_TESTS = 1, 5  # statuses of pytest


@dataclasses.dataclass
class Outcome:
    """Result of a step: counts, seconds, and the reasons of failures by the ids of tests."""

    name: str
    passed: int = 0
    seconds: float = 0.0
    failed: dict[str, str] = dataclasses.field(default_factory=dict)
    unstable: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def line(self) -> str:
        """Commit, counts and seconds."""
        return f"{self.name} at {commit()}: {self.passed} passed, {len(self.failed)} failed, {self.seconds:.0f} s"


def commit() -> str:
    """The short hash of HEAD, and whether files differ from it."""
    hash_, changed = (
        subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, text=True, check=False).stdout.strip()
        for words in (("rev-parse", "--short=8", "HEAD"), ("status", "--porcelain", "--untracked-files=no"))
    )
    return f"{hash_ or 'no commit'}{' with changes' if changed else ''}"


class Runner:
    """Steps of a run, their outcomes, and what they have in common."""

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        self.outcomes: list[Outcome] = []
        self._arguments = list(arguments)
        self._running: list[subprocess.Popen[bytes]] = []
        self._environment = {**os.environ, RUN: os.environ.get(RUN) or process_mark(os.getpid())}
        # Compiling modules, above all those of tests, whose assertions pytest rewrites, takes 10 s of every process.
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(self, steps: Sequence[Step]) -> None:
        """Runs steps: commands that follow each other at the same time, tests one after another.

        :raises Unfit: when the disk is full, or a command failed that later steps need
        """
        for are_commands, group in itertools.groupby(steps, lambda step: isinstance(step, Command)):
            check_disk()
            if are_commands:
                self._run_commands([step for step in group if isinstance(step, Command)])
            else:
                for step in group:
                    self._run_tests(cast("Pytest", step))

    def stop(self) -> None:
        """Ends the processes that run, with those that they started."""
        for process in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def _run_commands(self, commands: Sequence[Command]) -> None:
        """Runs commands at the same time. Prints the last line of what they printed, and all of it when they failed.

        :raises Unfit: when one failed that later steps need
        """
        with contextlib.ExitStack() as files:
            started = []
            for command in commands:
                outcome, output = self._begin(command.name), files.enter_context(tempfile.TemporaryFile())
                started.append((command, outcome, time.monotonic(), output, self._start(command.words, output=output)))
            while self._running:
                time.sleep(0.1)
                for command, outcome, began, output, process in started:
                    if process in self._running and process.poll() is not None:
                        self._running.remove(process)
                        output.seek(0)
                        text = output.read().decode(errors="replace").strip()
                        shown = text if process.returncode else last_line(text)
                        print(f"\n=== {command.name}\n{shown}", flush=True)
                        if process.returncode:
                            outcome.failed[command.name] = f"ended with status {process.returncode}: {last_line(text)}"
                        else:
                            outcome.passed = 1
                        self._end(outcome, began)
        for command, outcome, *_ in started:
            if command.needed and outcome.failed:
                raise Unfit(f"{command.name} {outcome.failed[command.name]}")

    def _run_tests(self, step: Pytest) -> None:
        """Runs tests, then those that failed once more, each in a process of its own."""
        outcome, began = self._begin(step.name), time.monotonic()
        print(f"\n=== {step.name}", flush=True)
        self._test(step, outcome)
        self._end(outcome, began)

    def _begin(self, name: str) -> Outcome:
        outcome = Outcome(name)
        self.outcomes.append(outcome)
        return outcome

    def _end(self, outcome: Outcome, began: float) -> None:
        """Prints and keeps the line of a step."""
        outcome.seconds = time.monotonic() - began
        print(outcome.line, flush=True)
        RESULTS.mkdir(parents=True, exist_ok=True)
        with (RESULTS / f"{outcome.name}.txt").open("a") as kept:
            kept.write(f"{time.strftime('%Y-%m-%d %H:%M')} {outcome.line}\n")

    def _start(
        self, words: Sequence[object], environment: Mapping[str, str] | None = None, output: IO[bytes] | None = None
    ) -> subprocess.Popen[bytes]:
        """Starts a command in a process group of its own."""
        process = subprocess.Popen(
            [str(word) for word in words],
            cwd=REPOSITORY,
            env={**self._environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            start_new_session=True,
        )
        self._running.append(process)
        return process

    def _pytest(self, step: Pytest, log: Path, *arguments: str) -> Report:
        """Runs pytest; what it reported."""
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        words = [sys.executable, "-m", "pytest", *step.options, f"--report-log={log}", *arguments]
        process = self._start(words, step.environment)
        status = process.wait()
        self._running.remove(process)
        return Report(log, status)

    def _test(self, step: Pytest, outcome: Outcome) -> None:
        """Runs tests, and repeats those that failed."""
        selection = ["-m", step.marks, *step.arguments, *self._arguments]
        report = self._pytest(step, RESULTS / f"{step.name}.jsonl", *step.parts, *selection)
        outcome.passed, outcome.failed = len(report.passed), report.failed
        unstable_before = sum(len(other.unstable) for other in self.outcomes)
        repeated = [test for test in report.failed if test in report.tests]
        if len(repeated) + unstable_before > MAX_UNSTABLE:
            return
        for number, test in enumerate(repeated):
            print(f"\n=== {step.name}: {test} once more, alone", flush=True)
            again = self._pytest(step, RESULTS / f"{step.name}-again-{number}.jsonl", test)
            if test in again.passed:
                outcome.unstable[test] = outcome.failed.pop(test)
                outcome.passed += 1
            else:
                outcome.failed[test] = again.failed.get(test) or outcome.failed[test]


class Report:
    """Reports of pytest: the ids of tests that passed, and the first line of the reason of each failure.

    :param log: the file of pytest-reportlog, a JSON object a line
    """

    def __init__(self, log: Path, status: int) -> None:
        self.passed: set[str] = set()
        self.failed: dict[str, str] = {}
        self.tests: set[str] = set()
        for line in log.open() if log.exists() else ():
            try:
                self._add(json.loads(line))
            except ValueError:  # the process was killed while it wrote
                continue
        self.passed -= self.failed.keys()
        if status not in (0, SOME_FAILED) or (status and not self.failed):  # it ended early: the rest did not run
            self.failed["pytest"] = f"ended with status {status}{', without a test' if status == NO_TESTS else ''}"

    def _add(self, item: Mapping[str, Any]) -> None:
        kind, test, outcome = item.get("$report_type"), item.get("nodeid", ""), item.get("outcome")
        if kind == "TestReport":
            self.tests.add(test)
            if outcome == "passed" and item["when"] == "call":
                self.passed.add(test)
        if outcome == "failed" and kind in ("TestReport", "CollectReport"):
            self.failed.setdefault(test, reason_of(item.get("longrepr")))


def last_line(text: str) -> str:
    """The last line with text."""
    return ([line.strip() for line in text.splitlines() if line.strip()] or ["no output"])[-1][:LONGEST_REASON]


def reason_of(longrepr: Any) -> str:
    """The first line of the reason of a failure, from the representation that pytest gives of it."""
    if isinstance(longrepr, Mapping):
        text = (longrepr.get("reprcrash") or {}).get("message") or str(longrepr.get("longrepr", ""))
        return (str(text).strip().splitlines() or ["no reason was given"])[0][:LONGEST_REASON]
    marked = [line[1:].strip() for line in str(longrepr or "").splitlines() if line.startswith("E  ")]
    return marked[0][:LONGEST_REASON] if marked else last_line(str(longrepr or ""))


def summary(outcomes: Iterable[Outcome]) -> list[str]:
    """The last lines of a run: unstable tests, failed ones, the seconds of each step, and the counts."""
    outcomes = list(outcomes)
    lines = [f"UNSTABLE {step.name}: {test} ({why})" for step in outcomes for test, why in step.unstable.items()]
    lines += [f"FAILED {step.name}: {test} - {why}" for step in outcomes for test, why in step.failed.items()]
    if len(lines) > 60:
        lines = [*lines[:60], f"FAILED {len(lines) - 60} more, see var/test-all/"]
    lines += [step.line for step in outcomes]
    passed, failed = sum(step.passed for step in outcomes), sum(len(step.failed) for step in outcomes)
    return [*lines, f"{passed} passed, {failed} failed"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs steps; the status of the process."""
    parser = argparse.ArgumentParser(prog="python -m ci.run", description=__doc__)
    parser.add_argument("steps", help="gate, test-all, lint, quick, or the name of a step")
    parser.add_argument("pytest", nargs=argparse.REMAINDER, help="further arguments of pytest")
    options = parser.parse_args(arguments)
    try:
        steps = steps_of(options.steps)
    except KeyError:
        print(f"There is no step {options.steps!r}.", file=sys.stderr)
        return 2
    runner = Runner(options.pytest)

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        runner.run(steps)
    except KeyboardInterrupt:
        runner.stop()
        print(f"Interrupted{f' in {runner.outcomes[-1].name}' if runner.outcomes else ''}.", file=sys.stderr)
        return 2
    except Unfit as reason:
        print(reason, file=sys.stderr)
        return 2
    print("\n" + "\n".join(summary(runner.outcomes)), flush=True)
    return int(any(outcome.failed for outcome in runner.outcomes))


if __name__ == "__main__":
    sys.exit(main())

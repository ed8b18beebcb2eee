"""Runs of steps: what is repeated, what is printed at the end, and the status."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ci import run, steps
from ci.machine import Unfit
from ci.run import Outcome, Runner, reason_of, summary
from ci.steps import Command, Pytest

pytestmark = pytest.mark.any_database
FAILS_ONCE = """
from pathlib import Path
def test_good(): pass
def test_fails_once():
    first = not Path("tried").exists()
    Path("tried").touch()
    assert not first, "the first attempt"
"""
FAILS = "def test_good(): pass\ndef test_bad():\n    assert 1 == 2, 'never'\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in place of the repository."""
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:randomly\n")
    (tmp_path / "conftest.py").write_text("def pytest_addoption(parser):\n    parser.addoption('--input-seed')\n")
    monkeypatch.setattr(run, "REPOSITORY", tmp_path)
    monkeypatch.setattr(run, "RESULTS", tmp_path / "var")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider")
    return tmp_path


def ran(folder: Path, text: str) -> Outcome:
    """The outcome of a step with the tests of one file."""
    (folder / "test_it.py").write_text(text)
    runner = Runner()
    runner.run([Pytest("some", "", ("test_it.py",), processes=0)])
    return runner.outcomes[0]


def test_a_test_that_passes_when_it_is_repeated_is_unstable(folder: Path) -> None:
    outcome = ran(folder, FAILS_ONCE)
    assert (outcome.passed, outcome.failed) == (2, {})
    assert list(outcome.unstable) == ["test_it.py::test_fails_once"]
    assert "UNSTABLE some: test_it.py::test_fails_once (AssertionError: the first attempt)" in summary([outcome])


@pytest.mark.night
def test_a_test_that_fails_twice_is_named_with_its_reason(folder: Path) -> None:
    outcome = ran(folder, FAILS)
    assert (outcome.passed, outcome.unstable) == (1, {})
    assert summary([outcome])[0] == "FAILED some: test_it.py::test_bad - AssertionError: never"
    assert summary([outcome])[-1] == "1 passed, 1 failed"


@pytest.mark.night
def test_more_than_five_are_not_repeated(folder: Path) -> None:
    many = FAILS_ONCE + "import pytest\n@pytest.mark.parametrize('n', range(5))\ndef test_bad(n): assert False\n"
    outcome = ran(folder, many)
    assert (len(outcome.failed), outcome.unstable) == (6, {})


@pytest.mark.night
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nothing_of_this_name", "No module named"),
        ("def test_it(absent): pass", "absent"),
        ("", "without a test"),
    ],
    ids=["import", "fixture", "no test"],
)
def test_what_does_not_run_has_failed(folder: Path, text: str, reason: str) -> None:
    outcome = ran(folder, text)
    assert outcome.passed == 0 and reason in next(iter(outcome.failed.values()))


@pytest.mark.night
def test_a_run_that_ends_early_has_failed(folder: Path) -> None:
    """Also when the tests that failed before its end pass when they are repeated."""
    outcome = ran(folder, FAILS_ONCE + "def test_that_kills():\n    import os\n    os.kill(os.getpid(), 9)\n")
    assert list(outcome.unstable) == ["test_it.py::test_fails_once"]
    assert outcome.failed == {"pytest": "ended with status -9"}


@pytest.mark.night
def test_each_step_keeps_its_line(folder: Path) -> None:
    outcome = ran(folder, "def test_good(): pass")
    assert "1 passed, 0 failed" in (folder / "var/some.txt").read_text() and "no commit" in outcome.line


@pytest.mark.night
def test_a_failed_command_is_named_and_the_next_steps_run(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "test_it.py").write_text("def test_good(): pass")
    runner = Runner()
    words = [sys.executable, "-c", "print('the reason'); raise SystemExit(3)"]
    runner.run([Command("style", words), Pytest("some", "", ("test_it.py",), processes=0)])
    assert [(outcome.passed, len(outcome.failed)) for outcome in runner.outcomes] == [(0, 1), (1, 0)]
    assert "ended with status 3: the reason" in summary(runner.outcomes)[0]
    assert "the reason" in capfd.readouterr().out


def test_a_command_that_later_steps_need_ends_the_run(folder: Path) -> None:
    with pytest.raises(Unfit, match="libraries ended with status 1: no output"):
        Runner().run([Command("libraries", [sys.executable, "-c", "raise SystemExit(1)"], needed=True)])


def test_an_unknown_step_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["no-step"]) == 2
    assert "no-step" in capsys.readouterr().err


@pytest.mark.night
def test_an_interrupted_run_says_so_and_leaves_no_process(tmp_path: Path) -> None:
    """With SIGTERM; the status is 2."""
    script = f"""
import sys
from pathlib import Path
from ci import run
run.RESULTS = Path({str(tmp_path)!r})
wait = "import time, os; open({str(tmp_path / "pid")!r}, 'w').write(str(os.getpid())); time.sleep(600)"
run.steps_of = lambda name: [run.Command("waiting", [sys.executable, "-c", wait])]
sys.exit(run.main(["gate"]))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=steps.REPOSITORY, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error.decode().strip()) == (2, "Interrupted in waiting.")
    while Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_every_step_of_a_target_exists() -> None:
    """The Makefile names steps that there are."""
    makefile = (steps.REPOSITORY / "Makefile").read_text()
    for target in ("test-sqlite", "test-postgresql", "test-mariadb", "test-browser", "test-directories", "test-all"):
        assert f"{target}:" in makefile.replace(" ", ":") and steps.steps_of(target)


@pytest.mark.parametrize(
    ("longrepr", "reason"),
    [
        ({"reprcrash": {"message": "AssertionError: one\ntwo"}}, "AssertionError: one"),
        ({"reprcrash": None, "longrepr": "the fixture\n"}, "the fixture"),
        ("file x, line 1\nE   ImportError: no x\n\nx:1\n", "ImportError: no x"),
        (None, "no output"),
    ],
)
def test_a_reason_is_one_line(longrepr: object, reason: str) -> None:
    assert reason_of(longrepr) == reason

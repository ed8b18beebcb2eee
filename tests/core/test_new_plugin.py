"""Projects of new plugins: the command `netinv plugin new`, and the names that it refuses."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from netinv_admin.commands.cli import cli

pytestmark = pytest.mark.any_database


def new(*words: str) -> Result:
    """Runs the command in the current folder."""
    return CliRunner().invoke(cli, ["plugin", "new", *words])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("model", "words", "plural"), [("Item", "item", "items"), ("AccessPolicy", "access_policy", "access_policies")]
)
def test_the_files_of_a_project_are_complete_and_follow_the_rules(
    folder: Path, model: str, words: str, plural: str
) -> None:
    """Nothing is left to fill in; the code passes the linter of netinv."""
    done = new("spare_parts", "--model", model, "--folder", "parts")
    assert done.exit_code == 0, done.output
    assert "cd parts" in done.output and "pytest" in done.output
    files = {
        path.relative_to("parts").as_posix(): path.read_text() for path in Path("parts").rglob("*") if path.is_file()
    }
    assert {f"netinv_spare_parts/{plural}.py", f"tests/test_{plural}.py", ".gitignore"} <= files.keys()
    assert f"wrote {len(files)} files to parts" in done.output
    assert tomllib.loads(files["pyproject.toml"])["project"]["entry-points"]["netinv"] == {
        "spare_parts": "netinv_spare_parts"
    }
    assert yaml.safe_load(files[".github/workflows/ci.yml"])["jobs"]["test"]["steps"]
    for name, text in files.items():
        if name.endswith(".py"):
            ast.parse(text)
    assert f'__tablename__ = "spare_parts_{words}"' in files[f"netinv_spare_parts/{plural}.py"]
    for rule in (["check", "--select", "E,F,I,UP,B,SIM,RUF"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *rule, "--no-cache", "."]
        ran = subprocess.run(command, cwd="parts", capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["Labels"], "use small letters"),
        (["cable-labels"], "use small letters"),
        (["class"], "use small letters"),
        (["../x"], "use small letters"),
        (["1st"], "use small letters"),
        (["labels_"], "use small letters"),
        (["dcim"], "choose another one"),
        (["core"], "choose another one"),
        (["testing"], "choose another one"),
        (["dcim_labels"], "tables of 'dcim_labels' could be taken for those of the installed 'dcim'"),
        (["labels", "--model", "label"], "use words with capitals"),
        (["labels", "--model", "None"], "use words with capitals"),
        (["labels", "--model", "Étage"], "use words with capitals"),
        (["labels", "--model", "Migration"], "choose another model"),
        (["labels", "--model", "A" + "a" * 40], "choose a shorter name"),
        (["labels", "--folder", "full"], "full exists already: choose another folder with --folder"),
        (["labels", "--folder", "full/file/labels"], "cannot be written"),
    ],
)
def test_a_name_that_cannot_be_is_refused_in_a_line_with_the_remedy(
    folder: Path, words: list[str], remedy: str
) -> None:
    (folder / "full").mkdir()
    (folder / "full/file").write_text("mine")
    refused = new(*words)
    assert refused.exit_code == 1
    assert remedy in refused.output
    assert len(refused.output.splitlines()) == 1
    assert [path.name for path in folder.rglob("*")] == ["full", "file"]

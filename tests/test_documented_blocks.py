"""Blocks of code and command lines of the pages: parsed, and the Python of the tutorials run."""

from __future__ import annotations

import ast
import configparser
import json
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from netinv_admin.commands.cli import cli
from netinv_core.environment import Environment
from netinv_core.packages import discover
from netinv_testing import Service
from tests.support import REPOSITORY
from tests.support.http_server import served

pytestmark = pytest.mark.any_database
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|json|yaml|ini)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^ {4,}(?:\S*/)?netinv ((?:-c|[a-z]).*)$", flags=re.MULTILINE)
LEFT_OUT = re.compile(r"…|[a-z]\|[a-z]")  # of a command line: what is left to the reader


def blocks(language: str) -> list[object]:
    """The blocks of all pages in a language."""
    return [
        pytest.param(text, id=f"{page.name}-{number}")
        for page in PAGES
        for number, (found, text) in enumerate(BLOCK.findall(page.read_text()))
        if found == language
    ]


def command_lines() -> Iterator[object]:
    """The command lines of all pages that are complete."""
    for page in PAGES:
        lines = [line for line in COMMAND.findall(page.read_text()) if not LEFT_OUT.search(line)]
        yield from (pytest.param(line, id=f"{page.name}-{number}") for number, line in enumerate(lines))


@pytest.mark.parametrize("text", blocks("python"))
def test_python_is_valid(text: str) -> None:
    """A block may be the body of a function, below a comment with the name of its file."""
    ast.parse(textwrap.dedent(re.sub(r"\A(#.*\n)+", "", text)))


@pytest.mark.parametrize("text", blocks("json"))
def test_json_is_valid(text: str) -> None:
    json.loads(text)


@pytest.mark.parametrize("text", blocks("yaml"))
def test_yaml_is_valid(text: str) -> None:
    assert yaml.safe_load(text)


@pytest.mark.parametrize("text", blocks("ini"))
def test_ini_files_are_valid(text: str) -> None:
    parser = configparser.RawConfigParser()
    parser.read_string(text if re.search(r"^\[", text, flags=re.MULTILINE) else f"[app:main]\n{text}")
    assert any(len(parser[section]) for section in parser.sections())


@pytest.mark.parametrize("line", list(command_lines()))
def test_a_command_line_has_options_and_arguments_that_exist(line: str) -> None:
    arguments = shlex.split(line, comments=True)
    context = click.Context(cli, info_name="netinv", obj=Environment("development.ini", discover))
    command: click.Command = cli
    while True:
        parsed = click.Context(command, info_name=command.name, parent=context, obj=context.obj)
        parsed.allow_interspersed_args = not isinstance(command, click.Group)
        _, arguments, _ = command.make_parser(parsed).parse_args(arguments)
        if not isinstance(command, click.Group) or not arguments:
            break
        found = command.get_command(parsed, arguments[0])
        assert found is not None, f"{command.name} has no command {arguments[0]}"
        context, command, arguments = parsed, found, arguments[1:]


@pytest.mark.night
def test_the_python_of_the_tutorial_reads_the_inventory(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site = service.api.post("/api/dcim/sites/", {"name": "Tutorial", "status": "active"})
    service.api.post("/api/dcim/racks/", {"name": "Row 1", "site": site["id"], "status": "active"})
    text = Path(REPOSITORY / "docs" / "tutorial-automation.md").read_text()
    first = next(found for language, found in BLOCK.findall(text) if language == "python")
    with served(service.app) as address:
        monkeypatch.setenv("NETINV_URL", address)
        monkeypatch.setenv("NETINV_TOKEN", service.api.token)
        exec(compile(first, "tutorial-automation.md", "exec"), {})
    assert "Tutorial ['Row 1']" in capsys.readouterr().out

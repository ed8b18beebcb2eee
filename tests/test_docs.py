"""Documentation and example settings compared with the code: every name, file, link, setting and command in them
exists.
"""

from __future__ import annotations

import configparser
import functools
import re
import tomllib
from pathlib import Path

import click
import pytest

from netinv_admin.commands.cli import cli
from netinv_core import settings
from netinv_core.environment import Environment
from netinv_core.packages import apps_of, discover
from tests.support import REPOSITORY

pytestmark = pytest.mark.any_database
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
FOR_DEVELOPERS = ["CONTRIBUTING.md", "architecture.md", "concepts.md", "concurrency.md", "glossary.md", "plugins.md"]
CODE_BLOCK = re.compile(r"^```.*?^```", flags=re.DOTALL | re.MULTILINE)
PYTHON_FILE = re.compile(r"(?<![\w/.<>-])(?:[\w-]+/)*[\w-]+\.py\b")
IDENTIFIER = re.compile(r"`@?((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:\([^`]*\))?`")
IN_ITALICS = re.compile(r"(?<![*\w`])\*([A-Z][^*\n`]{1,60})\*(?![*\w])")
EXAMPLES = {"netinv_example", "branches", "new_branch.py", "gadget"}
OF_LIBRARIES = {"add_all", "clone", "prepare_threshold"}
OTHER_FILES = ["setup.cfg", "pyproject.toml", "CHANGELOG.md", "Makefile", "development.ini", "production.ini"]


def ids(page: Path) -> str:
    """The name of a page in the names of tests."""
    return page.name


def known_settings() -> set[str]:
    """The names of every setting of the core and of the installed applications."""
    return {f"netinv.{name}" for name in settings.setting_definitions(apps_of(discover()[0]))}


def anchors(page: Path) -> set[str]:
    """The fragments that headings of a page can be linked by."""
    headings = re.findall(r"^#+ (.+)$", CODE_BLOCK.sub("", page.read_text()), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def sources() -> list[Path]:
    """The Python files of the repository."""
    return [path for top in REPOSITORY.iterdir() if not top.name.startswith(".") for path in top.rglob("*.py")]


def current_names(page: Path) -> str:
    """The text of a page without the column of old names of the glossary."""
    text = page.read_text()
    if page.name != "glossary.md":
        return text
    current, _, renamed = text.partition("## Old names")
    return current + "\n".join(line.split("|")[2] for line in renamed.splitlines() if line.startswith("|"))


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_lead_to_pages_and_headings_that_exist(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text()):
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_files_that_are_named_exist(page: Path) -> None:
    """Paths may leave out the beginning: ``sql/plan.py`` is ``netinv_core/sql/plan.py``."""
    files = [f"/{path.relative_to(REPOSITORY)}" for path in sources()]
    text = CODE_BLOCK.sub("", current_names(page)) if page.name not in FOR_DEVELOPERS else current_names(page)
    names = {name for name in PYTHON_FILE.findall(text) if not any(word in name for word in EXAMPLES)}
    assert [name for name in sorted(names) if not any(file.endswith(f"/{name}") for file in files)] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.name in FOR_DEVELOPERS], ids=ids)
def test_names_in_the_pages_for_developers_occur_in_the_code(page: Path) -> None:
    """Functions, classes and attributes: a page that keeps an old name fails here."""
    words = {word for path in sources() for word in re.findall(r"\w+", path.read_text())}
    words |= {word for name in OTHER_FILES for word in re.findall(r"\w+", f"{name} {(REPOSITORY / name).read_text()}")}
    named = {word for name in IDENTIFIER.findall(CODE_BLOCK.sub("", current_names(page))) for word in name.split(".")}
    assert sorted(named - words - EXAMPLES - OF_LIBRARIES) == []


@functools.cache
def shown_texts() -> str:
    """The code and templates that texts of the web interface are in."""
    found = (path for kind in ("py", "jinja2", "js") for path in REPOSITORY.glob(f"[!.]*/**/*.{kind}"))
    return "\n".join(path.read_text() for path in found if "tests" not in path.parts)


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_buttons_tabs_and_menus_that_are_named_exist(page: Path) -> None:
    """They are in italics, from a capital letter. Titles of lists are made of the names of resources."""
    named = {
        name.rstrip(" …")
        for names in IN_ITALICS.findall(CODE_BLOCK.sub("", page.read_text()))
        for name in names.split(" › ")
    }
    missing = {
        name
        for name in named
        if not re.search(rf"""[>"'}}`]\s*{re.escape(name)}[:…. ]*\s*[<"'{{`]""", shown_texts())
        and f'"{name.lower().replace(" ", "-")}"' not in shown_texts()
    }
    assert missing == set()


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_settings_that_are_named_exist(page: Path) -> None:
    """Loggers of the service have such names, too."""
    names = set(re.findall(r"`(netinv\.[a-z_]+)`", current_names(page)))
    ini = (REPOSITORY / "production.ini").read_text()
    assert names <= {*known_settings(), *re.findall(r"^qualname = (netinv\.\w+)$", ini, flags=re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_commands_that_are_shown_exist(page: Path) -> None:
    for words in re.findall(
        r"^    (?:\.venv/bin/)?netinv ((?:-c \S+ )?[a-z-]+(?: [a-z|-]+)?)", page.read_text(), flags=re.MULTILINE
    ):
        context = click.Context(cli, obj=Environment("development.ini", discover))
        group: click.Command | None = cli
        for word in re.sub(r"^-c \S+ ", "", words).split():
            if not isinstance(group, click.Group):
                break
            group = group.get_command(context, word.partition("|")[0])
            assert group is not None, words


def settings_of(name: str) -> dict[str, str]:
    """The ``netinv.`` settings that an ini file of the repository sets."""
    ini = configparser.RawConfigParser(defaults={"here": "."})
    ini.read(REPOSITORY / name)
    return {key: value for key, value in ini["app:main"].items() if key.startswith("netinv.")}


@pytest.mark.parametrize("name", ["development.ini", "production.ini"])
def test_the_ini_files_set_only_settings_that_exist(name: str) -> None:
    """A setting that was renamed would keep the service from starting."""
    assert set(settings_of(name)) <= known_settings()


def test_production_ini_has_every_setting() -> None:
    """``production.ini`` is the reference of the settings: each is set there, or commented out."""
    text = (REPOSITORY / "production.ini").read_text()
    assert set(re.findall(r"^#?(netinv\.[a-z0-9_]+) =", text, flags=re.MULTILINE)) == set(known_settings())


def test_make_run_installs_what_the_documented_modules_of_tests_import() -> None:
    """It builds the documentation, without the libraries of development."""
    needed: set[str] = set()
    for package, extra in (("netinv_testing", None), ("netinv_web", "testing")):
        project = tomllib.loads((REPOSITORY / package / "pyproject.toml").read_text())["project"]
        names = project["optional-dependencies"][extra] if extra else project["dependencies"]
        needed |= {name for name in names if not name.startswith("netinv-")}
    locked = {line.partition("==")[0].lower() for line in (REPOSITORY / "requirements.lock").read_text().splitlines()}
    listed = re.findall(r"^DOCUMENTING := (.*)$", (REPOSITORY / "Makefile").read_text(), flags=re.MULTILINE)
    assert needed - locked <= set(listed[0].split())

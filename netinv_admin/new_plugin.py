"""Project of a new plugin: a distribution with a model, its migration, its pages by declaration, and tests."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
import keyword
import re
from collections.abc import Collection, Iterator
from pathlib import Path

SOURCE = Path(__file__).parent / "plugin_files"
LONGEST_TABLE = 40  # of the 63 letters of a name, so that those of constraints have room
RESERVED = {"core", "plugin", "plugins"}  # parts of the names of the service
TAKEN = {"migrations"}  # modules of the project besides that of the model
_PLACE = re.compile(r"@(\w+?)@")


@dataclasses.dataclass(frozen=True)
class NewPlugin:
    """A plugin by the name of its application, such as ``cable_labels``, and that of its first model, ``Label``."""

    app: str
    model: str

    @property
    def package(self) -> str:
        """The package that is imported."""
        return f"netinv_{self.app}"

    @property
    def distribution(self) -> str:
        """The distribution that is installed, and the folder of the project."""
        return self.package.replace("_", "-")

    @property
    def names(self) -> dict[str, str]:
        """The texts by the names that the files have as ``@name@``."""
        word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.model).lower()
        many = _plural(word)
        words, words_plural = word.replace("_", " "), many.replace("_", " ")
        return {
            "app": self.app,
            "distribution": self.distribution,
            "model": self.model,
            "module": many,
            "package": self.package,
            "path": many.replace("_", "-"),
            "plural_option": "" if many == f"{word}s" else f'\n    plural="{words_plural}",',
            "related": many if many == self.app else f"{self.app}_{many}",
            "related_words": many,
            "table": f"{self.app}_{word}",
            "title": self.app.replace("_", " ").capitalize(),
            "version": importlib.metadata.version("netinv-core"),
            "words_plural": words_plural,
            "words_plural_title": words_plural.capitalize(),
            "words_title": words.capitalize(),
        }

    def files(self) -> Iterator[tuple[str, str]]:
        """The path of each file, below the folder of the project, and its text."""
        names = self.names
        places = {
            ".github/workflows/ci.yml": "ci.yml",
            ".gitignore": "gitignore",
            "README.md": "README.md",
            "conftest.py": "conftest.py",
            "pyproject.toml": "pyproject.toml",
            f"{self.package}/__init__.py": "package.py",
            f"{self.package}/{names['module']}.py": "model.py",
            f"{self.package}/migrations/__init__.py": "",
            f"{self.package}/migrations/versions/__init__.py": "",
            f"{self.package}/migrations/versions/0001_initial.py": "migration.py",
            f"tests/test_{names['module']}.py": "test_model.py",
        }
        for path, source in places.items():
            text = (SOURCE / f"{source}.in").read_text(encoding="utf-8") if source else ""
            yield path, _PLACE.sub(lambda match: names[match[1]], text)


def _plural(word: str) -> str:
    if re.search(r"[^aeiou]y$", word):
        return f"{word[:-1]}ies"
    return f"{word}es" if re.search(r"(s|x|ch|sh)$", word) else f"{word}s"


def check_names(plugin: NewPlugin, installed: Collection[str]) -> None:
    """Checks the names of a plugin; ``installed`` are those of the applications that are.

    :raises ValueError: for a name that it cannot have
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", plugin.app) or keyword.iskeyword(plugin.app):
        raise ValueError(f"{plugin.app!r} cannot name a plugin: use small letters, digits and _, as in cable_labels")
    if not re.fullmatch(r"([A-Z][a-z0-9]+)+", plugin.model) or keyword.iskeyword(plugin.model):
        raise ValueError(f"{plugin.model!r} cannot name a model: use words with capitals, as in CableLabel")
    if plugin.names["module"] in TAKEN:
        raise ValueError(f"the module of {plugin.model!r} has the name of another one: choose another model")
    if plugin.app in {*installed, *RESERVED} or importlib.util.find_spec(plugin.package) is not None:
        raise ValueError(f"{plugin.app!r} is the name of an installed package: choose another one")
    for name in sorted(installed):
        if f"{plugin.app}_".startswith(f"{name}_") or f"{name}_".startswith(f"{plugin.app}_"):
            raise ValueError(
                f"tables of {plugin.app!r} could be taken for those of the installed {name!r}: choose another name"
            )
    if len(plugin.names["table"]) > LONGEST_TABLE:
        raise ValueError(f"{plugin.names['table']} has more than {LONGEST_TABLE} letters: choose a shorter name")


def write(plugin: NewPlugin, folder: Path) -> list[str]:
    """Writes the project to a folder that does not exist or is empty; the paths of its files.

    :raises FileExistsError: when the folder has files
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(str(folder))
    written = []
    for name, text in plugin.files():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(name)
    return written

"""Reference pages of the documentation site, in Markdown, from what the installed packages declare: models, settings,
metrics, commands, the public API.

It is a tool of the build, not a command of `netinv`: a service is installed with the pages of its distributions, and
has those of its plugins' models at `/api/docs/`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

from netinv_admin.commands.cli import cli
from netinv_core.app import App
from netinv_core.environment import Environment
from netinv_core.http import versions
from netinv_core.main import read_settings, registry_for
from netinv_core.packages import apps_of, discover
from netinv_core.registry import Registry
from netinv_core.setting_variables import variable_of
from netinv_core.settings import OWN, setting_definitions
from netinv_core.telemetry.metrics import REGISTRY
from netinv_openapi import documents
from release import REPOSITORY, reference_packages
from release.reference_api import ApiPages
from release.reference_models import ModelPages, file_of, table

INI = "production.ini"
_SETTING = re.compile(r"#?netinv\.([a-z0-9_]+) =")


def pages(ini_text: str) -> dict[str, str]:
    """The text of each page, by path. ``ini_text`` is an ini file whose comments explain the settings."""
    modules, broken = discover("")
    own = [(name, module) for name, module in modules if (REPOSITORY / module.__name__ / "pyproject.toml").is_file()]
    settings, packages = read_settings({"netinv.secret": "of no service, to build pages only"}, (own, broken))
    if broken:
        raise SystemExit(f"packages that do not start: {broken}")
    registry = registry_for("postgresql", settings, packages)
    document = documents.document(registry, versions.SUPPORTED[-1])
    models = ModelPages(registry, document).pages()
    return {
        "index.md": _index(registry),
        "settings.md": _settings(apps_of(packages[0]), explanations(ini_text)),
        "metrics.md": _metrics(),
        "commands.md": _commands(),
        **ApiPages(registry).pages(),
        "packages.md": reference_packages.page(),
        **{f"models/{name}": text for name, text in models.items()},
    }


def _index(registry: Registry) -> str:
    lines = ["# Reference", "", "Generated from the declarations of the packages.", ""]
    for page, about in (("settings", "of the ini file"), ("metrics", "of each process"), ("commands", "of `netinv`")):
        lines.append(f"- [{page.title()}]({page}.md) {about}")
    lines += [
        "- [Public names](names.md) for [plugins](../plugins.md), and [functions of public modules](functions.md)"
    ]
    lines += ["- [Names of packages](packages.md): what plugins may import of other packages"]
    lines += ["- [Hooks](hooks.md) of plugins", "", "## Models", ""]
    for app in sorted(registry.apps.values(), key=lambda app: app.title):
        names = [registry.by_path[app.name, resource.name] for resource in app.resources]
        if names:
            lines += [f"### {app.title}", ""]
            lines += [f"- [{endpoint.plural}](models/{file_of(endpoint)})" for endpoint in names]
            lines.append("")
    return "\n".join(lines)


def explanations(ini_text: str) -> dict[str, str]:
    """The comment above each setting of an ini file, by name; settings without a blank line between them share one."""
    found: dict[str, str] = {}
    comment: list[str] = []
    after_setting = False
    for line in ini_text.splitlines():
        setting = _SETTING.match(line)
        if setting:
            found[setting[1]] = " ".join(comment)
        elif line.startswith("# "):
            comment = [*([] if after_setting else comment), line[2:]]
        elif not line:
            comment = []
        after_setting = setting is not None
    return found


def _settings(apps: Mapping[str, App], explained: Mapping[str, str]) -> str:
    packages = {name: package for package, app in apps.items() for name in app.settings}
    lines = [
        "# Settings",
        "",
        "Settings of the section `[app:main]` of the ini file. A variable of the environment wins over it,",
    ]
    lines += ["and the variable with `_FILE` at its end names a file with the value.", ""]
    lines += ["`netinv check` finds unknown names and values that cannot be read.", ""]
    for name, (reader, default) in sorted(setting_definitions(apps).items()):
        package = "netinv_core" if name in OWN else packages[name]
        lines += [f"## netinv.{name}", "", explained.get(name, ""), ""]
        lines += table(
            ["value", "default", "variable", "package"],
            [[_kind(reader), f"`{_written(default)}`", f"`{variable_of(name)}`", f"`{package}`"]],
        )
    return "\n".join(lines)


def _kind(reader: Any) -> str:
    """Descriptions of the values of settings, by the function that reads them."""
    names = {str: "text", int: "a whole number", float: "a number"}
    if reader in names:
        return names[reader]
    first = (inspect.getdoc(reader) or "text").partition("\n\n")[0]
    return " ".join(first.replace("``", "`").split()).rstrip(".")


def _written(default: Any) -> str:
    """A default as it stands in an ini file; a space for none, since a code span is not blank."""
    if isinstance(default, bool):
        return str(default).lower()
    if default is None or default in ("", ()):
        return " "
    return (
        " ".join(default)
        if isinstance(default, tuple)
        else f"{default:g}"
        if isinstance(default, float)
        else str(default)
    )


def _metrics() -> str:
    rows = []
    for metric in sorted(REGISTRY.collect(), key=lambda metric: metric.name):
        suffix = "_total" if metric.type == "counter" else ""
        rows.append([f"`{metric.name}{suffix}`", metric.type, metric.documentation])
    lines = [
        "# Metrics",
        "",
        "Metrics of each process, at `/metrics`. [Watching](../watching.md) explains their labels,",
    ]
    lines += ["and has those that are read from the database.", "", *table(["metric", "type", "meaning"], rows)]
    return "\n".join(lines)


def _commands() -> str:
    lines = [
        "# Commands",
        "",
        "`netinv --config production.ini COMMAND`; `--help` of each command prints the same.",
        "",
    ]
    context = click.Context(cli, info_name="netinv", obj=Environment(INI, discover))
    return "\n".join([*lines, *_help(cli, context)])


def _help(command: click.Command, context: click.Context) -> Iterator[str]:
    """The help of a command and of those below it."""
    yield from (f"## {context.command_path}", "", "```", command.get_help(context).replace("\b\n", ""), "```", "")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None:
                yield from _help(child, click.Context(child, info_name=name, parent=context))

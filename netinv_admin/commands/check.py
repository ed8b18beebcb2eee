"""Command ``netinv check``: the self-check of an installation."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_admin import checks
from netinv_core import settings as ini_settings
from netinv_core import start_check
from netinv_core.command_output import with_number
from netinv_core.db import table_check
from netinv_core.driver import driver_of
from netinv_core.environment import Environment
from netinv_core.findings import OK, PROBLEM, WARNING, Finding
from netinv_core.main import engine_for, make_app, registry_for
from netinv_core.packages import Packages, apps_of, build_without_failing
from netinv_core.registry import Registry

COLOURS = {OK: "green", WARNING: "yellow", PROBLEM: "red"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.pass_obj
def check(environment: Environment, as_json: bool, strict: bool) -> None:
    """Check the installation, and say what to do about each problem.

    Checks the settings, the database with its migrations, the secret, the queue, the folders, the clock, the workers,
    and what packages add. Changes nothing. Exits with 1 for a problem, with 0 for warnings alone.
    """
    findings = findings_of(environment)
    problems = sum(finding.level == PROBLEM for finding in findings)
    warnings = sum(finding.level == WARNING for finding in findings)
    if as_json:
        checked = [dataclasses.asdict(finding) for finding in findings]
        document = {"ok": not problems, "problems": problems, "warnings": warnings, "checks": checked}
        click.echo(json.dumps(document, indent=2))
    else:
        show(findings)
        click.echo(
            f"{with_number(len(findings), 'check')}: {with_number(problems, 'problem')}, "
            f"{with_number(warnings, 'warning')}"
        )
    raise SystemExit(1 if problems or (strict and warnings) else 0)


def show(findings: Sequence[Finding]) -> None:
    """Prints findings, with what to do about them."""
    for finding in findings:
        click.echo(f"{click.style(f'{finding.level:8}', fg=COLOURS[finding.level])} {finding.check}: {finding.message}")
        if finding.remedy:
            click.echo(f"{'':8} → {finding.remedy}")


def findings_of(environment: Environment) -> list[Finding]:
    """All findings about an installation. Settings with mistakes have their defaults in the other checks."""
    settings = environment.ini_settings
    early = ini_settings.before_packages(settings, os.environ)
    values, mistakes, packages = _parse_settings(settings, environment.discover(early.get("netinv.plugins_dir", "")))
    mistakes += _read_secret(values)
    findings = [Finding("settings", PROBLEM, text, _remedy(text, environment)) for text in mistakes]
    if not mistakes:
        findings.append(Finding("settings", OK, f"{environment.ini} has no mistakes"))
    root = click.get_current_context().find_root()
    findings += checks.variables(apps_of(packages[0]), values, sorted(_variables_of(root, root.command)))
    try:
        engine = engine_for(values)
    except ValueError as error:
        return [*findings, Finding("database", PROBLEM, str(error), "correct netinv.database_url")]
    registry = _build_registry(engine, values, packages, environment.ini)
    return [*findings, *checks.run(engine, registry, environment.ini)]


def _remedy(mistake: str, environment: Environment) -> str:
    return "correct it" if mistake.startswith("the environment variable") else f"correct it in {environment.ini}"


def _variables_of(context: click.Context, command: click.Command) -> Iterator[str]:
    """The environment variables of the options of a command and of its subcommands."""
    for parameter in command.params:
        yield from [parameter.envvar] if isinstance(parameter.envvar, str) else parameter.envvar or ()
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (inner := command.get_command(context, name)) is not None:
                yield from _variables_of(context, inner)


def _parse_settings(settings: Mapping[str, str], packages: Packages) -> tuple[dict[str, Any], list[str], Packages]:
    """The typed settings, their mistakes, and the packages without those whose settings are wrong."""

    def parsed(some: Packages) -> tuple[dict[str, Any], list[str], Packages]:
        apps, incomplete = apps_of(some[0]), bool(some[1])
        return *ini_settings.parse(settings, apps, incomplete=incomplete, variables=os.environ), some

    return build_without_failing(packages, parsed)


def _build_registry(engine: Engine, values: dict[str, Any], packages: Packages, ini: str) -> Registry:
    """The registry as the service has it: without packages whose views or tables it refuses, where the database can be
    used.
    """
    registry = registry_for(engine.dialect.name, values, packages)
    broken = {failed.name for failed in registry.broken}
    packages = [item for item in packages[0] if item[0] not in broken], registry.broken
    if not any(registry.is_plugin(name) for name, _ in packages[0]):
        return registry
    is_absent = not driver_of(engine).is_server and not Path(engine.url.database or "").is_file()
    if is_absent:  # a connection would create it
        return registry
    try:
        with engine.connect() as connection:
            lacking = table_check.plugins_to_migrate(connection, registry)
        if not lacking:
            start_check.check_revisions(engine, registry, ini)
        served: Registry = make_app(engine, values, packages=packages).registry.netinv
    except (sa.exc.SQLAlchemyError, start_check.UnusableDatabase):
        return registry  # the check of the database tells why
    return served


def _read_secret(values: dict[str, Any]) -> list[str]:
    """Reads the secret into the settings. Returns the mistakes."""
    if values["secret"] and values["secret_file"]:
        return ["netinv.secret and netinv.secret_file are both set, and the first one is used: remove one of them"]
    if not values["secret"] and values["secret_file"]:
        try:
            values["secret"] = Path(values["secret_file"]).read_text().strip()
        except FileNotFoundError:
            return [f"the file {values['secret_file']} does not exist (the first start creates it)"]
        except (OSError, ValueError) as error:
            return [f"the file {values['secret_file']} cannot be read: {error}"]
    mistake = ini_settings.secret_mistake(values, os.environ)
    return [mistake] if mistake is not None else []

"""Command ``netinv check``: the self-check of an installation."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from netinv_admin import checks
from netinv_core import settings as ini_settings
from netinv_core.environment import Environment
from netinv_core.findings import OK, PROBLEM, WARNING, Finding
from netinv_core.main import engine_for, registry_for
from netinv_core.packages import apps_of

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
    findings = _findings(environment)
    problems = sum(finding.level == PROBLEM for finding in findings)
    warnings = sum(finding.level == WARNING for finding in findings)
    if as_json:
        checked = [dataclasses.asdict(finding) for finding in findings]
        document = {"ok": not problems, "problems": problems, "warnings": warnings, "checks": checked}
        click.echo(json.dumps(document, indent=2))
    else:
        _show(findings)
        click.echo(f"{len(findings)} checks: {problems} problems, {warnings} warnings")
    raise SystemExit(1 if problems or (strict and warnings) else 0)


def _show(findings: Sequence[Finding]) -> None:
    for finding in findings:
        click.echo(f"{click.style(f'{finding.level:8}', fg=COLOURS[finding.level])} {finding.check}: {finding.message}")
        if finding.remedy:
            click.echo(f"{'':8} → {finding.remedy}")


def _findings(environment: Environment) -> list[Finding]:
    """All findings. Settings with mistakes have their defaults in the other checks."""
    settings = environment.ini_settings
    packages = environment.discover(settings.get("netinv.plugins_dir", ""))
    values, mistakes = ini_settings.parse(settings, apps_of(packages[0]), incomplete=bool(packages[1]))
    mistakes += _read_secret(values)
    findings = [Finding("settings", PROBLEM, text, f"correct it in {environment.ini}") for text in mistakes]
    if not mistakes:
        findings.append(Finding("settings", OK, f"{environment.ini} has no mistakes"))
    try:
        engine = engine_for(values)
    except ValueError as error:
        return [*findings, Finding("database", PROBLEM, str(error), "correct netinv.database_url")]
    registry = registry_for(engine.dialect.name, values, packages)
    return [*findings, *checks.run(engine, registry, environment.ini)]


def _read_secret(values: dict[str, Any]) -> list[str]:
    """Reads the secret into the settings. Returns the mistakes."""
    if not values["secret"] and values["secret_file"]:
        try:
            values["secret"] = Path(values["secret_file"]).read_text().strip()
        except FileNotFoundError:
            return [f"the file {values['secret_file']} does not exist (the first start creates it)"]
        except (OSError, ValueError) as error:
            return [f"the file {values['secret_file']} cannot be read: {error}"]
    mistake = ini_settings.secret_mistake(values)
    return [mistake] if mistake is not None else []

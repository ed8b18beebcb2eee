"""The command ``netinv openapi``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from netinv_core.environment import Environment
from netinv_core.http.versions import NEWEST, SUPPORTED
from netinv_openapi import documents


@click.command()
@click.option(
    "--api-version",
    type=click.Choice(SUPPORTED),
    default=NEWEST,
    show_default=True,
    help="The version of the API to describe.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write, by default the standard output.",
)
@click.pass_obj
def openapi(environment: Environment, api_version: str, output: Path | None) -> None:
    """Write the OpenAPI document of the installed packages, as JSON."""
    text = json.dumps(documents.document(environment.registry, api_version), indent=2)
    if output is None:
        click.echo(text)
    else:
        output.write_text(text + "\n")
        click.echo(f"wrote {output}")

"""The command that compares another service with this one."""

from __future__ import annotations

import functools
import json

import click
from rich.console import Console
from rich.table import Column, Table

from netinv_core.commands.environment import Environment
from netinv_core.importing.comparison import Comparison, Difference, compare
from netinv_core.importing.nautobot import own_models
from netinv_core.importing.netbox import declarations
from netinv_core.importing.rest import Client

MAX_TEXT_LENGTH = 120


@click.command("compare")
@click.argument("url")
@click.option("--token", envvar="NETINV_IMPORT_TOKEN", show_envvar=True, default="", help="Token of the service.")
@click.option("--limit", default=3, show_default=True, help="Maximum number of examples for each field; 0 lists all.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
def compare_services(environment: Environment, url: str, token: str, limit: int, as_json: bool) -> None:
    """Compare the objects of the service at URL, a Nautobot 1.x or netinv, with those of this one.

    Every list is read there page by page, and its objects are compared field by field with what the API answers here.
    They are matched by id, else by slug or name; addresses and times are not compared. Prints the differences by model
    and field, and exits with 1 when there are any.
    """
    if not url.startswith(("http://", "https://")):
        raise click.ClickException(f"{url} is not the URL of a service: https:// or http:// is expected")
    progress = Console(stderr=True)
    try:
        with environment.unit_of_work() as uow, progress.status("reading") as status:
            declared = own_models(environment.registry, declarations(environment.registry, "nautobot"))
            result = compare(uow, Client(url, token), declared, status.update)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(result.as_json(), indent=2))
    else:
        _print(result, limit)
    if not result.agrees:
        raise SystemExit(1)


def _print(result: Comparison, limit: int) -> None:
    console = Console()
    table = Table(Column("model", overflow="fold"))
    for name in ("there", "here", "equal", "only there", "only here"):
        table.add_column(name, justify="right")
    for label, model in result.models.items():
        if model.there or model.here:
            numbers = model.there, model.here, model.equal, len(model.only_there), len(model.only_here)
            table.add_row(label, *[str(number or "·") for number in numbers])
    console.print(table)
    say = functools.partial(console.print, highlight=False, markup=False, soft_wrap=True)
    by_field: dict[tuple[str, str], list[Difference]] = {}
    for difference in result.differences:
        by_field.setdefault((difference.model, difference.member), []).append(difference)
    for (label, member), differences in by_field.items():
        say(f"differs   {label}: {member} of {len(differences)} objects")
        for difference in differences[: limit or None]:
            say(f"            {difference.key}: {_short(difference.first)} there, {_short(difference.second)} here")
    for label, model in result.models.items():
        for title in model.only_there[: limit or None]:
            say(f"missing   {label} {title}")
    for reason, number in result.known.items():
        say(f"known     {number} values: {reason}")
    for label, reason in result.left_out.items():
        say(f"left out  {label}: {reason}")


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= MAX_TEXT_LENGTH else f"{text[:MAX_TEXT_LENGTH]}…"

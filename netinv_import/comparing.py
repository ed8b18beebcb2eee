"""The command that compares another service with this one."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Column, Table

from netinv_core.command_output import table_width
from netinv_core.driver.sessions import rollback
from netinv_core.environment import Environment
from netinv_import.commands import rule_option
from netinv_import.comparison import Comparison, MemberDifference, compare
from netinv_import.mapped_comparison import MappedComparison
from netinv_import.nautobot import own_models
from netinv_import.netbox import declarations, mapping_of
from netinv_import.services import products_of
from netinv_import.sources import NAUTOBOTS, SERVICES, client_of, read_nautobot, read_netbox, version_of

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

MAX_TEXT_LENGTH = 120


@click.command("compare")
@click.argument("source")
@click.option("--token", envvar="NETINV_IMPORT_TOKEN", show_envvar=True, default="", help="Token of the service.")
@click.option(
    "--origin", default="netbox", show_default=True, metavar="NAME", help="Name that a NetBox was imported with."
)
@rule_option
@click.option("--limit", default=3, show_default=True, help="Maximum number of examples for each field; 0 lists all.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
def compare_services(
    environment: Environment, source: str, token: str, origin: str, rules: Sequence[str], limit: int, as_json: bool
) -> None:
    """Compare the objects of SOURCE with those of this service.

    SOURCE is the URL of a Nautobot or netinv, or what `netinv import netbox` reads. The lists of a Nautobot 1.x or
    netinv are compared with what the API answers here, field by field; the objects of others with what an import makes
    of them. Prints the differences by model and field, and exits with 1 when there are any.
    """
    progress = Console(stderr=True)
    try:
        with environment.unit_of_work() as uow, progress.status("reading") as status:
            result = _compare(environment.registry, uow, source, token, origin, rules, status.update)
            rollback(uow.session)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(result.as_json(), indent=2))
    else:
        _print(result, limit)
    if not result.agrees:
        raise SystemExit(1)


def _compare(
    registry: Registry,
    uow: UnitOfWork,
    source: str,
    token: str,
    origin: str,
    rules: Sequence[str],
    advance: Callable[[str], None],
) -> Comparison:
    """Compares a source in the way that its product and version allow.

    :raises ValueError: when it cannot be read
    """
    products = products_of(client_of(source, token)) if source.startswith(SERVICES) else {}
    if "nautobot" not in products:
        models = declarations(registry)
        dump = read_netbox(source, models, advance, token=token)
        dump.add_rules(rules)
        return MappedComparison(uow, mapping_of(uow, dump, models, origin=origin), advance).run()
    own, differing = (declarations(registry, product) for product in ("nautobot", "nautobot2"))
    if version_of(products["nautobot"])[0] == NAUTOBOTS[0]:
        return compare(uow, client_of(source, token), own_models(registry, own), advance)
    dump, read = read_nautobot(source, registry, own, advance, token=token, differing=differing)
    dump.add_rules(rules)
    return MappedComparison(uow, mapping_of(uow, dump, read, origin="nautobot", keep_ids=True), advance).run()


def _print(result: Comparison, limit: int) -> None:
    console = Console(width=table_width())
    table = Table(Column("model", overflow="fold"))
    for name in ("there", "here", "equal", "only there", "only here"):
        table.add_column(name, justify="right")
    for label, model in result.models.items():
        if model.there or model.here:
            numbers = model.there, model.here, model.equal, len(model.only_there), len(model.only_here)
            table.add_row(label, *[str(number or "·") for number in numbers])
    console.print(table)
    say = functools.partial(console.print, highlight=False, markup=False, soft_wrap=True)
    by_field: dict[tuple[str, str], list[MemberDifference]] = {}
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

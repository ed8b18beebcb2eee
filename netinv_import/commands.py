"""Import commands, and functions that import commands of packages share."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from netinv_admin.commands.plugin_group import Extensible
from netinv_core.command_output import table_width
from netinv_core.driver.sessions import commit, rollback
from netinv_core.environment import Environment
from netinv_core.importing.dump import Declaration, Dump, Key
from netinv_import.netbox import declarations, import_dump
from netinv_import.report import OUTCOMES, REFUSED, SKIPPED, ImportReport
from netinv_import.sources import read_nautobot, read_netbox

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork


@click.group("import", cls=Extensible)
def import_() -> None:
    """Import data of another inventory."""


_OPTIONS = (
    click.option(
        "--user",
        required=True,
        metavar="NAME",
        help="The account that imports: its permissions apply, and the change log names it.",
    ),
    click.option("--dry-run", is_flag=True, help="Report the outcomes without changing anything."),
    click.option(
        "--limit",
        default=20,
        show_default=True,
        help="Maximum number of refused objects to list for each model; 0 lists all.",
    ),
)
_SERVICE_OPTIONS = (
    click.option("--token", envvar="NETINV_IMPORT_TOKEN", show_envvar=True, default="", help="Token of the service."),
    click.option(
        "--state",
        type=click.Path(dir_okay=False, path_type=Path),
        help="File of the pages read so far: an interrupted import of a service goes on from there.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the report as JSON."),
    *_OPTIONS,
)
rule_option = click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="NAME=VALUE",
    help="How to convert what a Nautobot 2.x or 3.x has otherwise, such as site-type=Campus; repeatable.",
)


def _with_options(function: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    return functools.reduce(lambda command, option: option(command), reversed(options), function)


def import_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that adds the options ``user``, ``dry_run`` and ``limit`` of every import to a command."""
    return _with_options(function, _OPTIONS)


def service_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that adds the options of an import, and ``token``, ``state`` and ``as_json``, to a command."""
    return _with_options(function, _SERVICE_OPTIONS)


@dataclasses.dataclass(frozen=True)
class ServiceOptions:
    """Values of the options of :func:`service_options`."""

    user: str
    token: str
    state: Path | None
    as_json: bool
    dry_run: bool
    limit: int

    def carry_out(self, environment: Environment, read: Reader, *, origin: str, keep_ids: bool = False) -> None:
        """Imports the dump that ``read(advance)`` returns with the mapping of its models, and prints the report.

        The state file is removed after an import.
        """

        def load(uow: UnitOfWork, *, report: ImportReport) -> None:
            dump, models = read(report.advance)
            commit = functools.partial(_commit, uow, self.dry_run)
            import_dump(uow, dump, models, report, origin=origin, keep_ids=keep_ids, commit=commit)

        carry_out(environment, self.user, load, dry_run=self.dry_run, limit=self.limit, as_json=self.as_json)
        if self.state is not None and not self.dry_run:
            self.state.unlink(missing_ok=True)


Reader = Callable[[Callable[[str], None]], tuple[Dump, Mapping[str, Declaration]]]


@import_.command()
@click.argument("source")
@click.option(
    "--origin",
    default="netbox",
    show_default=True,
    metavar="NAME",
    help="Name of the NetBox that is imported, when there are several.",
)
@service_options
@click.pass_obj
def netbox(environment: Environment, /, source: str, origin: str, **options: Any) -> None:
    """Import SOURCE: a file that `dumpdata` of a NetBox wrote, the URL of its PostgreSQL database, or its own URL.

    Objects are created and updated by the rules of the API, and committed in batches: an interrupted import is
    continued by another run. Importing the same source again changes nothing; importing a newer state of the same
    NetBox updates objects that changed. Nothing is deleted. Prints a table of the outcomes for each model, and exits
    with 1 when objects were refused.
    """
    chosen, models = ServiceOptions(**options), declarations(environment.registry)

    def read(advance: Callable[[str], None]) -> tuple[Dump, Mapping[str, Declaration]]:
        return read_netbox(source, models, advance, token=chosen.token, state=chosen.state), models

    chosen.carry_out(environment, read, origin=origin)


@import_.command()
@click.argument("source")
@rule_option
@service_options
@click.pass_obj
def nautobot(environment: Environment, /, source: str, rules: Sequence[str], **options: Any) -> None:
    """Import SOURCE: the URL of a Nautobot 1.x, 2.x or 3.x, or a file that `nautobot-server dumpdata` of a 1.x wrote.

    Objects keep their ids. A service is read page by page through its REST API. Everything else is as for `netinv
    import netbox`.
    """
    chosen, registry = ServiceOptions(**options), environment.registry
    declared, differing = (declarations(registry, product) for product in ("nautobot", "nautobot2"))

    def read(advance: Callable[[str], None]) -> tuple[Dump, Mapping[str, Declaration]]:
        dump, models = read_nautobot(
            source, registry, declared, advance, token=chosen.token, state=chosen.state, differing=differing
        )
        dump.add_rules(rules)
        return dump, models

    chosen.carry_out(environment, read, origin="nautobot", keep_ids=True)


def _commit(uow: UnitOfWork, dry_run: bool) -> None:
    """Commits a batch and returns the connection."""
    if not dry_run:
        commit(uow.session)
        uow.release()


def carry_out(
    environment: Environment,
    user: str,
    load: Callable[..., Any],
    *,
    dry_run: bool,
    limit: int,
    as_json: bool = False,
) -> None:
    """Imports with ``load(uow, report=report)``, shows the progress and prints the report.

    Exits with 1 when objects were refused.

    :raises click.ClickException: when ``load`` raises a ``ValueError``, as its source is not valid
    """
    report, console = ImportReport(), Console(width=table_width())
    try:
        with environment.unit_of_work(user) as uow, _progress(report):
            load(uow, report=report)
            if dry_run:
                rollback(uow.session)
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json.dumps(report.as_json(), indent=2, default=str))
    else:
        console.print(_table(report))
        _print_notes(console, report, limit)
        if dry_run:
            console.print("Dry run: nothing was changed.")
    if report.total(REFUSED) or report.incomplete:
        raise SystemExit(1)


def _progress(report: ImportReport) -> Progress:
    """Returns a progress bar that follows the report."""
    label, count = TextColumn("{task.description:32}"), MofNCompleteColumn()
    columns = SpinnerColumn(), label, BarColumn(), count, TimeElapsedColumn()
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task = progress.add_task("reading", total=None)

    def advance(label: str) -> None:
        progress.update(task, description=label, total=report.expected, completed=report.done)

    report.advance = advance
    return progress


def _table(report: ImportReport) -> Table:
    """Returns a table with the number of objects by model and outcome."""
    table = Table(Column("model", overflow="fold"))
    occurring = [name for name in OUTCOMES if report.total(name)]
    for name in (*occurring, "objects"):
        table.add_column(name, justify="right")
    counts = report.counts()
    for label in sorted(counts):
        table.add_row(label, *[str(counts[label][name] or "·") for name in occurring], str(counts[label].total()))
    table.add_section()
    table.add_row("all", *[str(report.total(name)) for name in occurring], str(len(report.outcomes)), style="bold")
    return table


def _print_notes(console: Console, report: ImportReport, limit: int) -> None:
    """Prints why objects were skipped or refused, and which values were left out."""
    say = functools.partial(console.print, highlight=False, markup=False, soft_wrap=True)
    for (label, key), outcome in report.added.items():
        say(f"added     {label} {key}: {outcome}, for what the dump has no equal of")
    skipped: dict[str, set[Key]] = {}
    for skipped_key, reason in report.reasons.items():
        if report.outcomes[skipped_key] == SKIPPED:
            skipped.setdefault(reason, set()).add(skipped_key)
    for reason, keys in skipped.items():
        models = ", ".join(sorted({label for label, _ in keys}))
        say(f"skipped   {len(keys)} objects of {models}: {reason}")
    listed: dict[str, int] = {}
    for (label, key), reason in report.reasons.items():
        if report.outcomes[label, key] == REFUSED:
            listed[label] = listed.get(label, 0) + 1
            if not limit or listed[label] <= limit:
                say(f"refused   {label} {key}: {reason}")
    for label, n in listed.items():
        if limit and n > limit:
            say(f"refused   {label}: {n - limit} more; --limit 0 lists all")
    for (label, field), (place, n) in sorted(report.kept.items()):
        say(f"kept      {label}: {field} of {n} objects, in the custom field {place}")
    for (label, field, reason), n in sorted(report.left_out.items()):
        say(f"left out  {label}: {field} of {n} {'objects' if report.files is None else 'values'}, {reason}")
    for label, names in report.beyond.items():
        for name in names[: limit or None]:
            say(f"beyond    {label} {name}: it is here and not in the file")
        if limit and len(names) > limit:
            say(f"beyond    {label}: {len(names) - limit} more; --limit 0 lists all")
    for (label, key), reason in report.incomplete:
        say(f"lacking   {label} {key}: {reason}")

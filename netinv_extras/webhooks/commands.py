"""Commands `netinv webhooks …`: state of the queue, failed deliveries with reasons, retry and replay."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import sqlalchemy as sa
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from netinv_core.changelog import sequence
from netinv_core.command_output import json_option, print_json, table_width
from netinv_core.db.expressions import in_parameter
from netinv_core.driver.sessions import rollback
from netinv_core.environment import Environment
from netinv_core.models.base import now, table_of
from netinv_core.models.types import utc
from netinv_extras.webhooks import deliveries
from netinv_extras.webhooks import replay as replaying
from netinv_extras.webhooks.deliveries import FAILED, STATES, WebhookAttempt, WebhookDelivery
from netinv_extras.webhooks.listener import visible
from netinv_extras.webhooks.models import Webhook
from netinv_extras.webhooks.replay import Replayed, ReplaySpan
from netinv_extras.webhooks.stats import queue_stats

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_delivery, _attempt, _webhook = table_of(WebhookDelivery), table_of(WebhookAttempt), table_of(Webhook)


class Moment(click.ParamType[datetime.datetime]):
    """Parameter type of times: ISO 8601 (UTC by default), or a duration before now such as ``90s``, ``12h``, ``7d``."""

    name = "time"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> datetime.datetime:
        """Returns the time in UTC."""
        if isinstance(value, datetime.datetime):
            return value
        ago = re.fullmatch(r"([0-9]{1,6})([smhd])", value)
        try:
            if ago:
                return now() - datetime.timedelta(**{_UNITS[ago[2]]: int(ago[1])})
            return utc(datetime.datetime.fromisoformat(value))
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is neither a time such as 2026-01-31T12:00:00Z nor how long ago, such as 30m, 12h or 7d",
                parameter,
                context,
            )


MOMENT = Moment()


@click.group()
def webhooks() -> None:
    """See to the deliveries of webhooks: what waits, what failed and why; send it again.

    Times are given as 2026-01-31T12:00:00Z (UTC unless they say otherwise) or as how long ago: 90s, 30m, 12h, 7d.
    """


@webhooks.command()
@json_option
@click.pass_obj
def status(environment: Environment, as_json: bool) -> None:
    """Show for each webhook how many deliveries are in which state, how long the oldest one waits, and when the next is
    due.

    When deliveries wait that are due, no worker is running (`netinv worker`), or their receiver is slow.
    """
    with environment.unit_of_work() as uow:
        stats = queue_stats(uow)
    if as_json:
        print_json(dataclasses.asdict(backlog) for backlog in stats)
        return
    if not stats:
        click.echo("there are no webhooks")
        return
    table = Table("webhook")
    for label in STATES.labels.values():
        table.add_column(label.lower(), justify="right")
    table.add_column("oldest waits")
    table.add_column("next is due")
    for backlog in stats:
        name = visible(backlog.webhook or "")
        name += "" if backlog.enabled else " (disabled)"
        name += " (paused)" if backlog.paused else ""
        counts = [
            Text(str(backlog.counts[state]), "bold red" if state == FAILED and backlog.counts[state] else "")
            for state in STATES.labels
        ]
        table.add_row(Text(name), *counts, _span(backlog.oldest), _due(backlog.due))
    Console(width=table_width()).print(table)


def _span(since: datetime.datetime | None) -> str:
    return "" if since is None else str(datetime.timedelta(seconds=max(0, int((now() - since).total_seconds()))))


def _due(moment: datetime.datetime | None) -> str:
    return "" if moment is None else "now" if moment <= now() else f"{moment:%Y-%m-%d %H:%M:%SZ}"


def _webhook_id(uow: UnitOfWork, name: str | None) -> Any:
    """Returns the id of a webhook by its name, or ``None`` without a name.

    :raises click.ClickException: for an unknown name
    """
    if name is None:
        return None
    key = uow.execute(sa.select(_webhook.c.id).where(_webhook.c.name == name)).scalar()
    if key is None:
        raise click.ClickException(f"no webhook is called {name!r}; `netinv webhooks status` lists them")
    return key


def _conditions(uow: UnitOfWork, webhook: str | None, since: datetime.datetime | None) -> list[Any]:
    conditions = [] if webhook is None else [_delivery.c.webhook_id == _webhook_id(uow, webhook)]
    return conditions if since is None else [*conditions, _delivery.c.time >= since]


@webhooks.command()
@click.option("--webhook", metavar="NAME", help="Those of one webhook.")
@click.option("--since", type=MOMENT, help="Those of changes since then.")
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="How many to list, the newest first; 0 lists all.",
)
@click.pass_obj
def failed(environment: Environment, webhook: str | None, since: datetime.datetime | None, limit: int) -> None:
    """List the deliveries that failed, the newest first, each with the reason of its last attempt.

    A line begins with the delivery's number, which `netinv webhooks retry` takes.
    """
    with environment.unit_of_work() as uow:
        conditions = [_delivery.c.state == FAILED, *_conditions(uow, webhook, since)]
        joined = sa.select(_delivery, _webhook.c.name).join_from(_delivery, _webhook)
        statement = joined.where(*conditions).order_by(_delivery.c.id.desc())
        rows = uow.execute(statement.limit(limit) if limit else statement).all()
        count = uow.execute(sa.select(sa.func.count()).select_from(_delivery).where(*conditions)).scalar() or 0
        reasons = _reasons(uow, [row.id for row in rows])
    for row in rows:
        change = f"{row.event} {row.changed_object_type} {row.object_repr}"
        reason = reasons.get(row.id, "no attempt is kept")
        title = f"{row.id}  {row.time:%Y-%m-%d %H:%M:%SZ}  {row.name}: {change}"
        click.echo(visible(f"{title}; attempts {row.attempts}; {reason}"))
    click.echo(f"{count} failed" + (f", {len(rows)} of them listed" if len(rows) < count else ""))


def _reasons(uow: UnitOfWork, keys: Sequence[int]) -> dict[int, str]:
    """Returns the error text of the last attempt of each delivery, by its id."""
    of_deliveries = in_parameter(_attempt.c.delivery_id)
    last = sa.select(sa.func.max(_attempt.c.id)).where(of_deliveries).group_by(_attempt.c.delivery_id)
    columns = _attempt.c.delivery_id, _attempt.c.status, _attempt.c.error, _attempt.c.answer
    rows = uow.execute(sa.select(*columns).where(_attempt.c.id.in_(last)), {"keys": keys})
    return {key: _reason(status, error, answer) for key, status, error, answer in rows}


def _reason(status: int | None, error: str, answer: str) -> str:
    answered = "" if status is None else f"answered {status}"
    return ": ".join(part for part in (answered, error or answer[:200]) if part) or "failed"


@webhooks.command()
@click.argument("ids", type=int, nargs=-1, metavar="[ID]...")
@click.option("--webhook", metavar="NAME", help="The failed deliveries of one webhook.")
@click.option("--all", "every", is_flag=True, help="All failed deliveries.")
@click.option("--since", type=MOMENT, help="Only those of changes since then.")
@click.pass_obj
def retry(
    environment: Environment, ids: tuple[int, ...], webhook: str | None, every: bool, since: datetime.datetime | None
) -> None:
    """Queue failed deliveries again, and wake the worker: those with these IDs, of one webhook, or all.

    \b
      netinv webhooks retry 17 23
      netinv webhooks retry --webhook "My CMDB" --since 2h
      netinv webhooks retry --all

    What waits or has succeeded stays as it is.
    """
    if not (ids or webhook is not None or every):
        raise click.UsageError("say which: IDs, --webhook NAME or --all")
    with environment.unit_of_work() as uow:
        conditions = _conditions(uow, webhook, since) + ([_delivery.c.id.in_(ids)] if ids else [])
        count = deliveries.requeue(uow, conditions)
    click.echo(f"{count} queued again")
    if ids and count < len(set(ids)):
        click.echo(f"{len(set(ids)) - count} of those named are not there, or have not failed", err=True)
        raise SystemExit(1)


@webhooks.command()
@click.option("--after", type=MOMENT, required=True, help="Replay the changes since then.")
@click.option("--before", type=MOMENT, help="Replay the changes until just before then; all of them when not given.")
@click.option("--webhook", metavar="NAME", help="Tell only this webhook, instead of all that are enabled.")
@click.option("--type", "label", metavar="TYPE", help="Only changes of objects of this type, such as dcim.site.")
@click.option("--dry-run", is_flag=True, help="Say how many deliveries there would be, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before queueing them.")
@click.pass_obj
def replay(
    environment: Environment,
    after: datetime.datetime,
    before: datetime.datetime | None,
    webhook: str | None,
    label: str | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Tell webhooks again of changes in a span of time, whether they were told then or not.

    New deliveries are queued for the recorded changes that match the enabled webhooks as they are now: for a receiver
    that lost data, or that was set up late. They are sent in the order of the changes, behind what waits for the same
    object. A receiver gets them as new deliveries. Conditions are judged by what was recorded of the objects; related
    objects count as they are now. Changes that cannot be judged any more are left out, and counted.

    \b
      netinv webhooks replay --after 2026-01-31T12:00:00Z --before 2026-01-31T14:00:00Z --webhook "My CMDB"
      netinv webhooks replay --after 1d --type dcim.device --dry-run
    """
    if label is not None and environment.registry.get(label) is None:
        raise click.ClickException(f"no type is called {label!r}; types are called as in dcim.site")
    sequence.number_changes(environment.checked_engine, environment.registry)
    with environment.unit_of_work() as uow:
        span = ReplaySpan(after, before, label, _webhook_id(uow, webhook))
        changes, count, judged = replaying.count(uow, span)
    if not count:
        click.echo("no change matches: there is nothing to queue")
        return
    if dry_run:
        queued = _replay(environment, span, changes, judging=True, dry_run=True) if judged else count
        click.echo(f"{queued} deliveries of {changes} changes would be queued")
        return
    if not yes:
        at_most = "at most " if judged else ""
        click.confirm(f"Queue {at_most}{count} deliveries of {changes} changes?", abort=True)
    click.echo(f"{_replay(environment, span, changes, judging=bool(judged))} queued")


def _replay(environment: Environment, span: ReplaySpan, changes: int, *, judging: bool, dry_run: bool = False) -> int:
    """Queues the deliveries in batches with one transaction each, so that locks are short. Returns their number.

    :param judging: webhooks with conditions are among those of the span
    """
    columns = TextColumn("judging" if dry_run else "queueing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    queued, unknown, part = 0, Counter[str](), Replayed(0, 1)
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("", total=changes)
        while part.changes:
            with environment.unit_of_work() as uow:
                part = replaying.replay(uow, span, part.last, judging=judging)
                if dry_run:
                    rollback(uow.session)
            queued += part.deliveries
            unknown.update(part.unknown)
            progress.advance(bar, part.changes)
    for name, number in sorted(unknown.items()):
        click.echo(f"left out, as they cannot be judged any more: {number} changes for {visible(name)}", err=True)
    return queued

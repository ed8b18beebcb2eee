"""Commands ``netinv plan`` and ``netinv apply``: of a service over HTTP, or of the database of the ini file."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, Protocol

import click
import orjson
import requests

from netinv_core.environment import Environment
from netinv_core.errors import RequestError, error_text
from netinv_core.http.serialization import dumps
from netinv_core.sql.plans import plan_of
from netinv_core.write import save
from netinv_extras.plans import files
from netinv_extras.plans.applying import apply as apply_in
from netinv_extras.plans.files import PlanDocument
from netinv_extras.plans.models import LABEL
from netinv_extras.webhooks.listener import visible

CHANGES, ERROR = 2, 1  # exit codes
HTTP_TIMEOUT = 300  # seconds
SIGNS = {"create": ("+", "green"), "update": ("~", "yellow"), "delete": ("-", "red")}


class ServiceRefusal(Exception):
    """Error of the service, with its body."""

    def __init__(self, body: Any) -> None:
        super().__init__(error_text(body))
        self.body = body


class Plans(Protocol):
    """Creation and application of plans."""

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a new plan."""

    def apply(self, key: str) -> dict[str, Any]:
        """Applies a plan and returns it."""


class DatabasePlans:
    """Plans of the database that the ini file names, as a user."""

    def __init__(self, environment: Environment, username: str) -> None:
        self._environment, self._username = environment, username

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a new plan."""
        try:
            with self._environment.unit_of_work(self._username) as uow:
                (plan,) = save.create(uow, uow.registry[LABEL], [body], single=True)
        except RequestError as error:
            raise ServiceRefusal(error.body) from None
        return _as_json(plan)

    def apply(self, key: str) -> dict[str, Any]:
        """Applies a plan and returns it."""
        try:
            with self._environment.unit_of_work(self._username) as uow:
                apply_in(uow, uuid.UUID(key))
                (plan,) = plan_of(uow.registry[LABEL]).represent(uow, [uuid.UUID(key)])
        except RequestError as error:
            raise ServiceRefusal(error.body) from None
        return _as_json(plan)


def _as_json(representation: Any) -> dict[str, Any]:
    value: dict[str, Any] = orjson.loads(dumps(representation))
    return value


class ServicePlans:
    """Plans of a service, over its API."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = f"{url.rstrip('/')}/api/extras/", token

    def create(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a new plan."""
        return self._post("plans/", body)

    def apply(self, key: str) -> dict[str, Any]:
        """Applies a plan and returns it."""
        return self._post(f"plans/{key}/apply/", {})

    def propose(self, body: Mapping[str, Any], target: Mapping[str, str]) -> dict[str, Any]:
        """Makes the changes of a document in a change request, an open one or a new one, and returns it."""
        members = {name: body[name] for name in ("objects", "match")}
        return self._post("change-requests/propose/", {**members, **target})

    def _post(self, below: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the answer to a POST.

        :raises Refused: for an error, and without an answer in JSON
        """
        headers = {"Authorization": f"Token {self._token}", "Accept": "application/json"}
        headers["Content-Type"] = "application/json"
        try:
            response = requests.post(f"{self._url}{below}", orjson.dumps(body), headers=headers, timeout=HTTP_TIMEOUT)
            value: dict[str, Any] = response.json()
        except requests.RequestException as error:
            raise ServiceRefusal({"detail": f"{self._url}: {error}"}) from None
        if not response.ok:
            raise ServiceRefusal(value)
        return value


# -- the commands


class UsageError(click.UsageError):
    """Usage error that exits with 1, as 2 stands for changes."""

    exit_code = ERROR


class ExitCodes(click.Command):
    """Command whose usage errors exit with 1."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments."""
        try:
            return super().parse_args(context, args)
        except click.UsageError as error:
            raise UsageError(error.message, context) from None


def _options(function: Any) -> Any:
    for option in (
        click.option("--user", metavar="NAME", help="Use the database of the ini file, as this account."),
        click.option("--token", envvar="NETINV_TOKEN", show_envvar=True, help="The token of the account."),
        click.option("--url", envvar="NETINV_URL", show_envvar=True, help="The address of the service."),
        click.argument("paths", nargs=-1, metavar="FILE…", type=click.Path(dir_okay=False, path_type=Path)),
    ):
        function = option(function)
    return function


def _plans_of(environment: Environment, url: str | None, token: str | None, user: str | None) -> Plans:
    if user:
        return DatabasePlans(environment, user)
    if not url or not token:
        raise click.ClickException("name the service by --url and --token, or an account of the database by --user")
    if not url.startswith(("http://", "https://")):
        raise click.ClickException(f"{url} is no address of a service")
    return ServicePlans(url, token)


@click.command(cls=ExitCodes)
@_options
@click.option("--json", "as_json", is_flag=True, help="Print the plan, or the change request, as JSON.")
@click.option(
    "--change-request",
    "target",
    metavar="ID or TITLE",
    help="Propose the differences in this open change request of the service, or in a new one of this title.",
)
@click.pass_obj
def plan(
    environment: Environment, /, paths: tuple[Path, ...], as_json: bool, target: str | None, **service: str | None
) -> None:
    """Compare the objects of FILE… (YAML or JSON) with the inventory, and store the differences as a plan, or in a
    change request.

    Exits with 0 when nothing differs, with 2 when something does, with 1 after an error.
    """
    plans = _plans_of(environment, **service)
    if target is not None:
        _propose(plans, paths, target, as_json=as_json)
        return
    made = _create_plan(plans, paths)
    _print(made, as_json=as_json)
    if made["changes"]:
        if not as_json:
            click.echo(f"Apply it: netinv apply --plan {made['id']}")
        raise SystemExit(CHANGES)


@click.command(cls=ExitCodes)
@_options
@click.option("--plan", "key", metavar="ID", type=click.UUID, help="Apply this plan; no files are read.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def apply(
    environment: Environment, /, paths: tuple[Path, ...], key: uuid.UUID | None, yes: bool, **service: str | None
) -> None:
    """Change the inventory to have the objects of FILE… (YAML or JSON), in one transaction.

    Shows the differences and asks first. Exits with 0 when it is done or nothing differs, with 1 otherwise.
    """
    plans = _plans_of(environment, **service)
    if key is None:
        made = _create_plan(plans, paths)
        _show(made)
        if made["changes"] and not yes and not click.confirm("Apply?"):
            raise SystemExit(ERROR)
        if not made["changes"] and not made["owner"]:
            return
        key = uuid.UUID(made["id"])
    try:
        applied = plans.apply(str(key))
    except ServiceRefusal as error:
        _fail(error, None)
    if applied["changes"]:
        click.echo(f"Applied. The request id of the changes is {applied['request_id']}.")


def _propose(plans: Plans, paths: tuple[Path, ...], target: str, *, as_json: bool) -> None:
    """Proposes the differences of files, prints the change request, and exits with 2 when it has changes."""
    if not isinstance(plans, ServicePlans):
        raise click.ClickException("--change-request needs the address of the service: --url and --token")
    document = _read(paths)
    if document.body["owner"]:
        raise click.ClickException("a document with an owner deletes what it leaves out, which is not proposed")
    named = _target(target)
    if "title" in named:  # a new one is made where there is something to propose
        made = _create_plan(plans, paths)
        if not as_json or not made["changes"]:
            _print(made, as_json=as_json)
        if not made["changes"]:
            return
    try:
        shown = plans.propose(document.body, named)
    except ServiceRefusal as error:
        _fail(error, document)
    if as_json:
        click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        numbers = ", ".join(f"{shown[name]} to {name.removesuffix('s')}" for name in ("creates", "updates", "deletes"))
        click.echo(f"{visible(shown['title'])}: {numbers}\nReview it: {shown['url'].replace('/api/', '/', 1)}")
    if shown["creates"] or shown["updates"] or shown["deletes"]:
        raise SystemExit(CHANGES)


def _target(text: str) -> dict[str, str]:
    """The members that name an open change request by its id, or give a new one its title."""
    try:
        return {"change_request": str(uuid.UUID(text))}
    except ValueError:
        return {"title": text}


def _read(paths: tuple[Path, ...]) -> PlanDocument:
    """The document of files; prints the reason where they have none, and exits."""
    if not paths:
        raise click.ClickException("name the files")
    try:
        return files.read(paths)
    except ValueError as error:
        raise click.ClickException(str(error)) from None


def _create_plan(plans: Plans, paths: tuple[Path, ...]) -> dict[str, Any]:
    """Returns a new plan for files; prints the errors of a refused one and exits."""
    document = _read(paths)
    try:
        return plans.create(document.body)
    except ServiceRefusal as error:
        _fail(error, document)


def _print(made: Mapping[str, Any], *, as_json: bool) -> None:
    click.echo(json.dumps(made, indent=2, ensure_ascii=False)) if as_json else _show(made)


def _show(made: Mapping[str, Any]) -> None:
    """Prints the changes of a plan, and their numbers."""
    for change in made["changes"]:
        sign, color = SIGNS[change["action"]]
        click.secho(f"{sign} {change['object_type']} {visible(change['display'])}", fg=color)
        for item in change["fields"] if change["action"] != "delete" else ():
            before, after = (visible(json.dumps(item[name], ensure_ascii=False)) for name in ("before", "after"))
            click.echo(f"    {item['field']}: {after if change['action'] == 'create' else f'{before} → {after}'}")
    names = {"creates": "to create", "updates": "to update", "deletes": "to delete", "unchanged": "unchanged"}
    click.echo(", ".join(f"{made[name]} {words}" for name, words in names.items()))


def _fail(error: ServiceRefusal, document: PlanDocument | None) -> NoReturn:
    """Prints the errors of a refused plan, line by line, and exits."""
    for line in _lines(error.body, document):
        click.secho(visible(line), fg="red", err=True)
    raise SystemExit(ERROR)


def _lines(body: Any, document: PlanDocument | None) -> Iterator[str]:
    if not isinstance(body, dict):
        yield error_text(body)
        return
    objects = body.get("objects") if document is not None else None
    for name, value in body.items():
        if name == "differences":
            yield from (_difference(item) for item in value)
        elif name == "objects" and document is not None and isinstance(objects, dict):
            for label, errors in objects.items():
                entries = errors.items() if isinstance(errors, dict) else [("", errors)]
                yield from (f"{document.place(label, index)}: {error_text(entry)}" for index, entry in entries)
        elif name != "count":
            yield error_text({name: value})


def _difference(item: Mapping[str, Any]) -> str:
    entry = item["planned"] or item["now"]
    changed = "; ".join(f"{field['field']} by {field['user_name']}" for field in item["changed"])
    return f"{entry['object_type']} {entry['display']}{': ' if changed else ''}{changed}"

"""A package that a test installs: it implements the hooks that attach to other packages' resources."""

import click
import sqlalchemy as sa
from pyramid.response import Response

from netinv_core.app import App
from netinv_core.changelog.guards import ChangeGuard
from netinv_core.changelog.models import ObjectChange
from netinv_core.changelog.recorder import RelatedInsert
from netinv_core.errors import Denied, Invalid
from netinv_core.findings import WARNING, Finding
from netinv_core.hookspecs import hookimpl
from netinv_core.http.list_formats import ListFormat
from netinv_core.http.metrics import Sample
from netinv_core.read import filters, listing
from netinv_core.read.recognisers import Match, SearchProvider
from netinv_core.resource import computed
from netinv_core.sql import relations
from netinv_core.tasks.queue import Task
from netinv_core.tasks.retention import Retention
from netinv_core.write.delete import GenericCascade
from netinv_core.write.dry_run import Effects
from netinv_core.write.table_rows import JoinedColumns
from netinv_extras.change_requests.pictures import ChangePicture
from netinv_extras.config_contexts.scopes import ContextScope
from netinv_extras.git.sync import CREATED, ContentKind
from netinv_extras.secrets import SecretsProvider

TARGET = "tenancy.tenant"
ALONE = "alone"
seeded = []
recorded = []
reverted = []
looked_at = []
counted = []
tallied = None
tally = sa.Table(
    "guest_tally",
    sa.MetaData(),
    sa.Column("change_id", sa.Uuid(), primary_key=True),
    sa.Column("name", sa.String(200)),
)


@hookimpl
def netinv_app():
    """An application without resources."""
    return App("guest", "Guest", plugin=True, version="7.8", author="Someone")


@hookimpl
def netinv_fields(registry, endpoint):
    """``shout``: the name in capitals."""
    return [computed("shout", str.upper, "name")] if endpoint.label == TARGET else []


@hookimpl
def netinv_filters(registry, endpoint):
    """``letters``: how long the name is; lists can be ordered by it."""
    if endpoint.label != TARGET:
        return []

    def length(table):
        return sa.func.length(table.c.name)

    return [
        filters.custom(
            "letters", lambda uow, table, values: length(table).in_([int(value) for value in values]), sort_by=length
        )
    ]


@hookimpl
def netinv_search(registry):
    """``letters 12``: the tenants whose names are so long."""

    def recognise(uow, text):
        word, _, number = text.partition(" ")
        if word == "letters" and number.isdecimal():
            yield Match(
                TARGET,
                "by length",
                "name",
                lambda table: sa.func.length(table.c.name) == int(number),
                [("letters", number)],
            )

    return [SearchProvider("letters", 50, recognise)]


@hookimpl
def netinv_dynamic_filters(uow, endpoint):
    """``called_as_<name of a status>``: tenants that are called as an existing status is."""
    if endpoint.label != TARGET:
        return {}
    names = uow.cached_config("guest's names", _names_of_statuses)
    return {f"called_as_{name.lower()}": filters.custom("called", _called(endpoint, name)) for name in names}


def _called(endpoint, name):
    """The condition that tenants have a name, in the way of packages before 0.2: with the name of the dialect."""

    def condition(uow, table, values):
        dialect = uow.registry.dialect
        named = relations.keyword(endpoint, table, dialect, "name", name)
        return sa.and_(named, relations.constraint(endpoint, table, dialect, {"slug__isnull": False}))

    return condition


def _names_of_statuses(uow):
    return list(uow.execute(sa.select(uow.registry["extras.status"].table.c.name)).scalars())


@hookimpl
def netinv_relations(registry, endpoint):
    """``namesake``: tenants of the same description, for constraints and references."""
    if endpoint.label != TARGET:
        return {}

    def those(table, ids):
        other = endpoint.table.alias()
        return table.c.description.in_(sa.select(other.c.description).where(other.c.id.in_(ids)))

    return {"namesake": relations.Relation(lambda: endpoint, those, lambda table: sa.true())}


@hookimpl
def netinv_graphql_fields(registry, endpoint):
    """``whisper``: the name in small letters, for GraphQL alone."""
    return [computed("whisper", str.lower, "name", openapi={"type": "string"})] if endpoint.label == TARGET else []


@hookimpl
def netinv_secret_providers(registry):
    """A vault that knows one word, and breaks when asked for another."""

    def read(parameters):
        return {"open": parameters["shelf"]}[parameters["word"]]

    return {"vault": SecretsProvider("Vault", ("shelf", "word"), read)}


@hookimpl
def netinv_joined_columns(registry, endpoint):
    """``first`` and ``last``, the parts of a tenant's name."""

    def read(cells):
        return {"name": f"{cells.get('first', '')} {cells.get('last', '')}".strip()}

    return [JoinedColumns(("first", "last"), ("name",), read, "Parts of the name.")] if endpoint.label == TARGET else []


@hookimpl
def netinv_list_formats(registry):
    """``tally``: how many tenants the filters select, in another unit."""

    def render(uow, endpoint, value, parameters):
        count, _ = listing.ids(uow, endpoint, parameters, listing.Slice(1, 0))
        return Response(text=f"{count} {value}", content_type="text/plain")

    return [ListFormat("tally", render, lambda endpoint: endpoint.label == TARGET, "What to count in.")]


@hookimpl
def netinv_rules(registry, endpoint):
    """No tenant is called nobody."""

    def no_nobody(uow, drafts):
        for draft in drafts:
            if "nobody" in draft["name"]:
                draft.reject("name", "Nobody is nobody.")

    return [no_nobody] if endpoint.label == TARGET else []


@hookimpl
def netinv_written_rules(registry):
    """No two tenants have the comment that they are alone, seen once their rows are written."""

    def one_is_alone(uow, endpoint, drafts):
        table = endpoint.table
        if endpoint.label == TARGET and any(draft["comments"] == ALONE for draft in drafts):
            count = sa.select(sa.func.count()).select_from(table).where(table.c.comments == ALONE)
            if uow.execute(count).scalar() > 1:
                drafts[0].reject("comments", "Another one is alone.")

    return [one_is_alone]


@hookimpl
def netinv_generic_cascades(registry):
    """Notes go with the tenant they are about."""
    note = registry.get("extras.note")
    if note is None:
        return []
    return [
        GenericCascade(
            note.table,
            "assigned_object_type",
            "assigned_object_id",
            label="extras.note",
            applies=lambda endpoint: endpoint.label == TARGET,
        )
    ]


@hookimpl
def netinv_context_scopes(registry):
    """Config contexts for the devices of a maker, and for tenants, by their group."""
    makers = ContextScope("makers", "dcim.manufacturer", {"dcim.device": "device_type.manufacturer"})
    return [makers, ContextScope("tenant_groups", paths={TARGET: "group"})]


@hookimpl
def netinv_git_content_kinds(registry):
    """``mottos/*``: files of which nothing is kept but their names in the report."""

    def import_mottos(sync, files):
        for path in files:
            sync.report.record("guest.motto", path, CREATED)

    return {"guest.motto": ContentKind("mottos", "mottos", import_mottos)}


@hookimpl
def netinv_seed(uow):
    """Counts what there is, to show that it was asked."""
    seeded.append(uow.execute(sa.select(sa.func.count()).select_from(ObjectChange.__table__)).scalar())


@hookimpl
def netinv_change_inserts(uow, changes):
    """A row for the record of each change of a tenant, where somebody made the table for it."""

    return [_rows] if tallied is not None and any(change.endpoint.label == TARGET for change in changes) else []


def _tally(dialect, recorded):
    chosen = sa.select(recorded.c.id, recorded.c.object_repr).where(recorded.c.changed_object_type == TARGET)
    return sa.insert(tally).from_select(["change_id", "name"], chosen)


_rows = RelatedInsert(_tally, lambda uow, count: tallied.append(count))


@hookimpl
def netinv_change_guards(registry):
    """Counts tenants before they change, refuses the changes of locked ones, and marks those of sealed ones."""
    return [ChangeGuard(_look, _check)]


def _look(uow, endpoint, keys):
    if endpoint.label == TARGET:
        looked_at.extend(keys)


def _check(uow, changes):
    marks = {}
    for change in changes:
        name = ((change.before or change.after)["name"]) if change.endpoint.label == TARGET else ""
        if name.endswith(" locked") and change.before is not None:
            raise Denied("The tenant is locked.")
        if name.endswith(" sealed") and change.before is not None:
            marks[TARGET, change.key] = "the seal"
    return marks


@hookimpl
def netinv_changes_recorded(uow, changes):
    """Remembers what happened to tenants, if their record is there; refuses one."""
    for change in changes:
        if change.endpoint.label == TARGET:
            held = uow.execute(sa.select(ObjectChange.action).where(ObjectChange.id == change.record)).scalar()
            recorded.append(
                (held, change.key, change.before and change.before["name"], change.after and change.after["name"])
            )
            if change.after and "forbidden" in change.after["name"]:
                raise Invalid.field("name", "It is forbidden.")


@hookimpl
def netinv_reverted(uow, changes):
    """Remembers which changes of tenants were undone."""
    reverted.extend(
        (change.key, change.before and change.before["name"], change.after and change.after["name"])
        for change in changes
        if change.endpoint.label == TARGET
    )


@hookimpl
def netinv_change_effects(uow, changes):
    """Letters to tenants."""
    tenants = [change for change in changes if change.endpoint.label == TARGET]
    return {
        "letters": Effects(len(tenants), [{"object_type": TARGET, "object_id": str(change.key)} for change in tenants])
    }


@hookimpl
def netinv_tasks(registry):
    """Counts the tenants, when it is woken."""

    def count(engine, registry):
        with engine.connect() as connection:
            counted.append(connection.execute(sa.select(sa.func.count()).select_from(registry[TARGET].table)).scalar())

    return [Task("count_tenants", count)]


completed = []


@hookimpl
def netinv_importers(registry):
    """Nothing of a dump."""
    return {}


@hookimpl
def netinv_complete_import(uow, mapping):
    """Adds nothing to a dump."""
    completed.append(mapping)


@click.command()
def greet():
    """Say that the guest is here."""
    click.echo("hello")


@hookimpl
def netinv_commands():
    """``netinv greet`` and ``netinv import greet``; the name ``migrate`` is taken."""
    return {"netinv": [greet, click.Command("migrate")], "import": [greet]}


@hookimpl
def netinv_change_pictures(changes):
    """A picture of each changed tenant."""
    for change in changes:
        if change.endpoint.label == TARGET:
            path = f"/guest/{change.key}.svg"
            yield ChangePicture("Portraits", 1, TARGET, change.key, f"Portrait {change.key}", path)


@hookimpl
def netinv_known_statuses(registry):
    """The guest looks for the status ``at-home``."""
    return ["at-home"]


@hookimpl
def netinv_document_members(uow, endpoint):
    """``_custom_field_data__mood`` of tenants: a text."""

    def check(within, lookup, value):
        if not isinstance(value, str):
            raise ValueError("A mood is a text.")

    return {"mood": check} if endpoint.label == TARGET else {}


@hookimpl
def netinv_status(uow):
    """A word for the status page."""
    return {"guest": "at home"}


@hookimpl
def netinv_metrics(uow):
    """How many are at home, by room; the room's name is an awkward one."""
    return [
        Sample("guest_present", "Guests\nat home.", 2, labels={"room": 'the "blue" \\ one'}),
        Sample("guest_present", "", 0, labels={"room": "attic"}),
    ]


@hookimpl
def netinv_checks(registry):
    """Whether the guest is at home."""
    return [Finding("guest", WARNING, "the guest is out", "ring again")]


@hookimpl
def netinv_retention(registry):
    """Letters of the guest, which are kept for ever."""
    return [Retention(tally, lambda settings, at: None)]

"""A package that a test installs: it implements the hooks that attach to other packages' resources."""

import click
import sqlalchemy as sa

from netinv_core.app import App
from netinv_core.changes import ObjectChange
from netinv_core.hookspecs import hookimpl
from netinv_core.read import filters, paths
from netinv_core.resource import computed
from netinv_core.write.delete import Dependents

TARGET = "tenancy.tenant"
seeded = []


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
    """``letters``: how long the name is."""
    if endpoint.label != TARGET:
        return []
    return [filters.special("letters", lambda context, table, values: sa.func.length(table.c.name).in_([int(value) for value in values]))]


@hookimpl
def netinv_relations(registry, endpoint):
    """``namesake``: tenants of the same description, for constraints and references."""
    if endpoint.label != TARGET:
        return {}

    def those(table, ids):
        other = endpoint.table.alias()
        return table.c.description.in_(sa.select(other.c.description).where(other.c.id.in_(ids)))

    return {"namesake": paths.Relation(lambda: endpoint, those, lambda table: sa.true())}


@hookimpl
def netinv_rules(registry, endpoint):
    """No tenant is called nobody."""

    def no_nobody(context, drafts):
        for draft in drafts:
            if "nobody" in draft["name"]:
                draft.reject("name", "Nobody is nobody.")

    return [no_nobody] if endpoint.label == TARGET else []


@hookimpl
def netinv_dependents(registry):
    """Notes go with the tenant they are about."""
    note = registry.get("extras.note")
    if note is None:
        return []
    return [Dependents(note.table, "assigned_object_type", "assigned_object_id", label="extras.note", applies=lambda endpoint: endpoint.label == TARGET)]


@hookimpl
def netinv_seed(context):
    """Counts what there is, to show that it was asked."""
    seeded.append(context.execute(sa.select(sa.func.count()).select_from(ObjectChange.__table__)).scalar())


@hookimpl
def netinv_importers(registry):
    """Nothing of a dump."""
    return {}


@click.command()
def greet():
    """Say that the guest is here."""
    click.echo("hello")


@hookimpl
def netinv_commands():
    """``netinv greet`` and ``netinv import greet``; the name ``migrate`` is taken."""
    return {"netinv": [greet, click.Command("migrate")], "import": [greet]}


@hookimpl
def netinv_status(context):
    """A word for the status page."""
    return {"guest": "at home"}

"""Two processes on one database: what one of them changes, the next request to the other sees. Each process caches
configuration, the counts of long lists and runs of taken addresses.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.auth.models import Token
from netinv_core.models.base import table_of
from netinv_core.read.counts import CACHED_FROM
from netinv_testing import Service
from tests.support.databases import migrated_database, new_queue_url
from tests.support.two_processes import Process, two_processes

pytestmark = [pytest.mark.slow, pytest.mark.crash]
TENANTS, GROUPS, SITES, ROLES = (
    "/api/tenancy/tenants/",
    "/api/tenancy/tenant-groups/",
    "/api/dcim/sites/",
    "/api/dcim/rack-roles/",
)
TENANT, ROLE = "tenancy.tenant", "dcim.rackrole"
STATUSES, PERMISSIONS, USERS = "/api/extras/statuses/", "/api/users/permissions/", "/api/users/users/"
Seen = Callable[[Process], Any]
Steps = Sequence[tuple[Callable[[], Any], Any]]  # changes, each with what is seen after it


@dataclasses.dataclass
class Pair:
    """The two processes: changes are made through ``one``; ``service`` makes accounts."""

    service: Service
    one: Process
    other: Process

    def unique(self) -> str:
        """A word that no other test has."""
        return self.service.unique()

    def make(self, path: str, **body: Any) -> Any:
        """A new object, made through the first process."""
        return self.one.ask("POST", path, body)

    def named(self, path: str, **body: Any) -> Any:
        """A new object with a name, and the slug of that name."""
        word = self.unique()
        return self.make(path, name=word, slug=word, **body)

    def patch(self, thing: Any, **body: Any) -> Callable[[], Any]:
        """The change of an object through the first process."""
        return lambda: self.one.ask("PATCH", path_of(thing), body)

    def delete(self, thing: Any) -> Callable[[], Any]:
        """The deletion of an object through the first process."""
        return lambda: self.one.ask("DELETE", path_of(thing))


def path_of(thing: Any) -> str:
    """The path of an object, without the address of the process that showed it."""
    return "/api/" + str(thing["url"]).partition("/api/")[2]


def nothing() -> None:
    """No change: what is seen before is what the other process caches."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("two")
    with (
        migrated_database(folder, database_template) as engine,
        two_processes(engine, folder, new_queue_url(folder)) as found,
    ):
        yield Pair(*found)


# -- kinds of what is cached: what a process sees, and changes


def a_permission(pair: Pair) -> tuple[Seen, Steps]:
    account, body = pair.service.user(), {"object_types": [TENANT], "actions": ["view"]}
    given = pair.make(PERMISSIONS, name=pair.unique(), enabled=False, users=[account.id], **body)
    steps = [(nothing, 403), (pair.patch(given, enabled=True), 200), (pair.delete(given), 403)]
    return lambda process: process.send("GET", TENANTS, account=account).status_code, steps


def a_constraint_of_a_permission(pair: Pair) -> tuple[Seen, Steps]:
    account, (one, two) = pair.service.user(), (pair.named(TENANTS), pair.named(TENANTS))
    body = {"object_types": [TENANT], "actions": ["view"], "constraints": {"name": one["name"]}}
    given = pair.make(PERMISSIONS, name=pair.unique(), users=[account.id], **body)

    def seen(process: Process) -> list[str]:
        return [item["id"] for item in process.send("GET", TENANTS, account=account).json()["results"]]

    return seen, [(nothing, [one["id"]]), (pair.patch(given, constraints={"name": two["name"]}), [two["id"]])]


def the_groups_of_a_user(pair: Pair) -> tuple[Seen, Steps]:
    account, group = pair.service.user(), pair.make("/api/users/groups/", name=pair.unique())
    body = {"object_types": [TENANT], "actions": ["view"], "groups": [group["id"]]}
    pair.make(PERMISSIONS, name=pair.unique(), **body)
    user = {"url": f"{USERS}{account.id}/"}
    steps = [(nothing, 403), (pair.patch(user, groups=[group["id"]]), 200), (pair.delete(group), 403)]
    return lambda process: process.send("GET", TENANTS, account=account).status_code, steps


def the_groups_that_need_if_match(pair: Pair) -> tuple[Seen, Steps]:
    account, tenant = pair.service.user(("change", TENANT)), pair.named(TENANTS)
    group, user = pair.make("/api/users/groups/", name="careful"), {"url": f"{USERS}{account.id}/"}

    def seen(process: Process) -> int:
        return process.send("PATCH", path_of(tenant), {"description": "d"}, account=account).status_code

    return seen, [(nothing, 200), (pair.patch(user, groups=[group["id"]]), 428), (pair.patch(user, groups=[]), 200)]


def an_account(pair: Pair) -> tuple[Seen, Steps]:
    account = pair.service.user(("view", TENANT))
    user = {"url": f"{USERS}{account.id}/"}
    steps = [
        (nothing, 200),
        (pair.patch(user, is_active=False), 403),
        (pair.patch(user, is_active=True), 200),
        (pair.patch(user, is_superuser=True), 200),
        (pair.delete(user), 403),
    ]
    return lambda process: process.send("GET", TENANTS, account=account).status_code, steps


def a_token(pair: Pair) -> tuple[Seen, Steps]:
    account, role = pair.service.user(("view change", [ROLE, "users.token"])), pair.named(ROLES)
    token = pair.one.send("GET", "/api/users/tokens/", account=account).json()["results"][0]

    def seen(process: Process) -> tuple[int, int]:
        changed = process.send("PATCH", path_of(role), {"description": "d"}, account=account)
        return process.send("GET", ROLES, account=account).status_code, changed.status_code

    def limit() -> None:
        pair.one.send("PATCH", path_of(token), {"write_enabled": False}, account=account)

    def delete() -> None:
        with pair.service.unit_of_work() as uow:
            tokens = table_of(Token)
            uow.execute(sa.delete(tokens).where(tokens.c.id == uuid.UUID(token["id"])))

    return seen, [(nothing, (200, 200)), (limit, (200, 403)), (delete, (403, 403))]


def a_status(pair: Pair) -> tuple[Seen, Steps]:
    status = pair.named(STATUSES, content_types=["dcim.rack"])
    site = pair.named(SITES, status="active")

    def seen(process: Process) -> int:
        return process.send("PATCH", path_of(site), {"status": status["slug"]}).status_code

    return seen, [
        (nothing, 400),
        (pair.patch(status, content_types=["dcim.site"]), 200),
        (pair.patch(site, status="active"), 200),
        (pair.patch(status, slug=f"{status['slug']}-2"), 400),
    ]


def a_custom_field(pair: Pair) -> tuple[Seen, Steps]:
    role, slug = pair.named(ROLES), "f" + pair.unique().replace("-", "_")
    pair.other.ask("GET", path_of(role))
    body = {"slug": slug, "label": slug, "type": "integer", "content_types": [TENANT]}
    field = pair.make("/api/extras/custom-fields/", **body)

    def seen(process: Process) -> Any:
        shown = slug in process.ask("GET", path_of(role))["custom_fields"]
        return shown, process.send("GET", f"{ROLES}?cf_{slug}=1").status_code

    return seen, [
        (nothing, (False, 400)),
        (pair.patch(field, content_types=[TENANT, ROLE]), (True, 200)),
        (pair.delete(field), (False, 400)),
    ]


def the_choices_of_a_custom_field(pair: Pair) -> tuple[Seen, Steps]:
    role, slug = pair.named(ROLES), "f" + pair.unique().replace("-", "_")
    body = {"slug": slug, "label": slug, "type": "select", "content_types": [ROLE]}
    field = pair.make("/api/extras/custom-fields/", **body)
    first = pair.make("/api/extras/custom-field-choices/", field=field["id"], value="first")

    def seen(process: Process) -> list[int]:
        bodies = [{"custom_fields": {slug: value}} for value in ("first", "second")]
        return [process.send("PATCH", path_of(role), body).status_code for body in bodies]

    return seen, [
        (nothing, [200, 400]),
        (pair.patch(first, value="second"), [400, 200]),
    ]


def a_relationship(pair: Pair) -> tuple[Seen, Steps]:
    role, slug = pair.named(ROLES), "r" + pair.unique().replace("-", "_")
    ends = {"type": "many-to-many", "source_type": ROLE, "destination_type": TENANT}
    found = pair.make("/api/extras/relationships/", name=slug, slug=slug, **ends)

    def seen(process: Process) -> Any:
        return slug in process.ask("GET", f"{path_of(role)}?include=relationships")["relationships"]

    return seen, [
        (nothing, True),
        (pair.patch(found, slug=f"{slug}_2"), False),
        (pair.patch(found, slug=slug), True),
        (pair.delete(found), False),
    ]


def a_computed_field(pair: Pair) -> tuple[Seen, Steps]:
    tenant, slug = pair.named(TENANTS), "c" + pair.unique().replace("-", "_")
    body = {"slug": slug, "label": slug, "content_type": TENANT, "template": "one"}
    field = pair.make("/api/extras/computed-fields/", **body)

    def seen(process: Process) -> Any:
        return process.ask("GET", f"{path_of(tenant)}?include=computed_fields")["computed_fields"].get(slug)

    return seen, [(nothing, "one"), (pair.patch(field, template="two"), "two"), (pair.delete(field), None)]


def a_config_context(pair: Pair) -> tuple[Seen, Steps]:
    word = pair.unique()
    cluster_type = pair.named("/api/virtualization/cluster-types/")
    cluster = pair.make("/api/virtualization/clusters/", name=word, type=cluster_type["id"])
    machine = pair.make("/api/virtualization/virtual-machines/", name=word, cluster=cluster["id"], status="active")
    context = pair.make("/api/extras/config-contexts/", name=word, data={word: 1}, is_active=False)
    tenant = pair.named(TENANTS)

    def seen(process: Process) -> Any:
        return process.ask("GET", f"{path_of(machine)}?include=config_context")["config_context"].get(word)

    return seen, [
        (nothing, None),
        (pair.patch(context, is_active=True), 1),
        (pair.patch(context, data={word: 2}), 2),
        (pair.patch(context, tenants=[tenant["id"]]), None),
        (pair.patch(machine, tenant=tenant["id"]), 2),
        (pair.delete(context), None),
    ]


def a_dynamic_group(pair: Pair) -> tuple[Seen, Steps]:
    sites = [pair.named(SITES, status="active")["name"] for _ in range(2)]
    body = {"content_type": "dcim.site", "filter": {"name": sites[:1]}}
    parent = pair.named("/api/extras/dynamic-groups/", content_type="dcim.site", filter={})
    group = pair.named("/api/extras/dynamic-groups/", **body)
    link = {"parent_group": parent["id"], "group": group["id"], "operator": "union", "weight": 1}
    membership = pair.make("/api/extras/dynamic-group-memberships/", **link)

    def seen(process: Process) -> list[str]:
        found = process.ask("GET", f"{path_of(parent)}members/?name={sites[0]}&name={sites[1]}")["results"]
        return [item["name"] for item in found]

    return seen, [
        (nothing, sites[:1]),
        (pair.patch(group, filter={"name": sites[1:]}), sites[1:]),
        (pair.delete(membership), sorted(sites)),
    ]


def a_graphql_schema(pair: Pair) -> tuple[Seen, Steps]:
    slug = "f" + pair.unique().replace("-", "_")
    body = {"slug": slug, "label": slug, "type": "text", "content_types": [TENANT]}
    field = pair.make("/api/extras/custom-fields/", **body)

    def seen(process: Process) -> int:
        query = {"query": f"{{ rack_roles {{ name cf_{slug} }} }}"}
        return process.send("POST", "/api/graphql/", query).status_code

    return seen, [
        (nothing, 400),
        (pair.patch(field, content_types=[TENANT, ROLE]), 200),
        (pair.delete(field), 400),
    ]


def a_webhook(pair: Pair) -> tuple[Seen, Steps]:
    body = {"content_types": [TENANT], "type_create": True, "payload_url": "https://receiver.example.com/"}
    hook = pair.make("/api/extras/webhooks/", name=pair.unique(), enabled=False, **body)

    def seen(process: Process) -> int:
        made = (
            process.ask("POST", GROUPS, {"name": pair.unique()}),
            process.ask("POST", TENANTS, {"name": pair.unique()}),
        )
        keys = "&".join(f"changed_object_id={item['id']}" for item in made)
        return int(process.ask("GET", f"/api/extras/webhook-deliveries/?{keys}")["count"])

    return seen, [
        (nothing, 0),
        (pair.patch(hook, enabled=True), 1),
        (pair.patch(hook, content_types=[TENANT, "tenancy.tenantgroup"]), 2),
        (pair.patch(hook, type_create=False, type_delete=True), 0),
        (pair.delete(hook), 0),
    ]


def a_job_hook_and_its_job(pair: Pair) -> tuple[Seen, Steps]:
    job = pair.service.api.get("/api/extras/jobs/", {"job_class_name": "Watcher"})["results"][0]
    pair.patch(job, enabled=True)()
    body = {"content_types": [ROLE], "type_create": True, "job": job["id"]}
    hook = pair.make("/api/extras/job-hooks/", name=pair.unique(), **body)
    results = "/api/extras/job-results/?name=local/examples/Watcher"

    def seen(process: Process) -> int:
        before = process.ask("GET", results)["count"]
        process.ask("POST", ROLES, {"name": pair.unique()})
        return int(process.ask("GET", results)["count"] - before)

    return seen, [
        (nothing, 1),
        (pair.patch(job, enabled=False), 0),
        (pair.patch(job, enabled=True), 1),
        (pair.patch(hook, enabled=False), 0),
    ]


def a_saved_view(pair: Pair) -> tuple[Seen, Steps]:
    word = pair.unique()
    body = {"content_type": "tenancy.tenantgroup", "query": "name=x", "shared": True}
    view = pair.make("/api/web/saved-views/", name=word, **body)

    def seen(process: Process) -> list[str]:
        links = process.page("/tenancy/tenant-groups/?_view=all").select(".views a")
        return [link.text.split()[0] for link in links if word in link.text]

    return seen, [(nothing, [word]), (pair.patch(view, name=f"{word}-2"), [f"{word}-2"]), (pair.delete(view), [])]


def the_columns_of_a_list(pair: Pair) -> tuple[Seen, Steps]:
    pair.named(GROUPS)
    default = pair.make("/api/web/list-defaults/", content_type="tenancy.tenantgroup", columns=["slug"])

    def seen(process: Process) -> bool:
        heads = [head.text.strip() for head in process.page("/tenancy/tenant-groups/").select("thead th")]
        return any(text.startswith("Slug") for text in heads)

    return seen, [
        (nothing, True),
        (pair.patch(default, columns=["description"]), False),
        (pair.patch(default, columns=["slug"]), True),
    ]


def an_export_template(pair: Pair) -> tuple[Seen, Steps]:
    word = pair.unique()
    template = pair.make("/api/extras/export-templates/", name=word, content_type=TENANT, template_code="x")

    def seen(process: Process) -> tuple[bool, bool]:
        text = process.page("/tenancy/tenants/").text
        return word in text, f"{word}-2" in text

    return seen, [
        (nothing, (True, False)),
        (pair.patch(template, name=f"{word}-2"), (True, True)),
        (pair.delete(template), (False, False)),
    ]


def the_filters_of_a_page(pair: Pair) -> tuple[Seen, Steps]:
    slug = "f" + pair.unique().replace("-", "_")
    body = {"slug": slug, "label": slug, "type": "text", "content_types": [TENANT]}
    field = pair.make("/api/extras/custom-fields/", **body)

    def seen(process: Process) -> bool:
        options = process.page("/dcim/rack-roles/").select("option")
        return any(slug in str(option.get("value")) for option in options)

    return seen, [
        (nothing, False),
        (pair.patch(field, content_types=[TENANT, ROLE]), True),
        (pair.delete(field), False),
    ]


def the_count_of_a_long_list(pair: Pair) -> tuple[Seen, Steps]:
    for _ in range(CACHED_FROM // 2000):
        pair.one.ask("POST", "/api/dcim/manufacturers/", [{"name": pair.unique()} for _ in range(2000)])
    count = pair.one.ask("GET", "/api/dcim/manufacturers/?limit=1")["count"]
    made: list[Any] = []

    def make() -> None:
        made.append(pair.make("/api/dcim/manufacturers/", name=pair.unique()))

    def delete() -> None:
        pair.one.ask("DELETE", path_of(made[0]))

    return lambda process: process.ask("GET", "/api/dcim/manufacturers/?limit=1")["count"], [
        (nothing, count),
        (nothing, count),
        (make, count + 1),
        (make, count + 2),
        (delete, count + 1),
    ]


def the_first_free_address(pair: Pair) -> tuple[Seen, Steps]:
    prefix = pair.make("/api/ipam/prefixes/", prefix="100.99.0.0/24", status="active")
    path = f"{path_of(prefix)}available-ips/"
    taken = pair.one.ask("POST", path, [{"status": "active"}] * 20)

    def seen(process: Process) -> str:
        return str(process.ask("GET", f"{path}?limit=1")[0]["address"])

    return seen, [
        (nothing, "100.99.0.21/24"),
        (lambda: pair.one.ask("POST", path, {"status": "active"}), "100.99.0.22/24"),
        (pair.delete(taken[4]), "100.99.0.5/24"),
        (lambda: pair.one.ask("POST", path, {"status": "active"}), "100.99.0.22/24"),
        (pair.patch(prefix, status="container"), "100.99.0.22/24"),
    ]


KINDS: list[Callable[[Pair], tuple[Seen, Steps]]] = [
    a_permission,
    a_constraint_of_a_permission,
    the_groups_of_a_user,
    the_groups_that_need_if_match,
    an_account,
    a_token,
    a_status,
    a_custom_field,
    the_choices_of_a_custom_field,
    a_relationship,
    a_computed_field,
    a_config_context,
    a_dynamic_group,
    a_graphql_schema,
    a_webhook,
    a_job_hook_and_its_job,
    a_saved_view,
    the_columns_of_a_list,
    an_export_template,
    the_filters_of_a_page,
    the_count_of_a_long_list,
    the_first_free_address,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__.replace("_", " "))
def test_a_change_through_one_process_is_seen_by_the_next_request_to_the_other(
    pair: Pair, kind: Callable[[Pair], tuple[Seen, Steps]]
) -> None:
    """Both processes have seen the state before, so both have cached it."""
    seen, steps = kind(pair)
    for number, (change, expected) in enumerate(steps):
        change()
        found = [seen(pair.other), seen(pair.one)]
        assert found == [expected, expected], f"step {number}"

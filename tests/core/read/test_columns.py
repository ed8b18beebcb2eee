"""Every column of every table is one of three: in the representation of its objects, internal, or confidential. A new
one must be classified here.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from netinv_core import fields
from netinv_core.endpoint import Endpoint
from netinv_core.models.base import Base
from netinv_core.models.columns import column_info
from tests.support.registry import REGISTRY

OURS = ("core_", "extras_", "tenancy_", "dcim_", "ipam_", "circuits_", "virtualization_")
CONFIDENTIAL = {
    "core_user.password",
    "core_token.key_hash",
    "extras_webhook.second_secret",
    "extras_webhook.secret",
    "extras_git_repository.token",
    "extras_job_result.arguments",
    "extras_plan.objects",
    "extras_scheduled_job.kwargs",
}
# Kept by netinv itself, in tables of any kind: sort keys and what else is derived, leases, and what another field shows
# in another form.
INTERNAL = {
    "extras_change_request.authors",
    *(
        "name_key",
        "tree_key",
        "tree_names",
        "port_key",
        "position",
        "unowned_name",
        "untenanted_name",
        "custom_field_data",
        "advanced_ui",
        "grouping",
        "limited_by",
    ),
    *(
        "network",
        "broadcast",
        "prefix_length",
        "host",
        "claimed_by",
        "claimed_until",
        "unfinished",
        "lost_claims",
        "created",
        "last_updated",
    ),
    "core_object_change.memberships",
    *(
        "core_user.is_superuser",
        "core_user.config_data",
        "core_token.user_id",
        "core_object_change.before",
        "core_object_change.after",
    ),
    *(
        "core_object_change.number",
        "extras_status.description",
        "extras_job.git_repository_id",
        "extras_job.path",
        "extras_job_hook.slug",
    ),
    "extras_plan.digests",
    *("extras_scheduled_job.start_time", "extras_scheduled_job.next_run", "dcim_power_feed.available_power"),
}
WITHOUT_RESOURCE = {
    *(
        "core_change_numbering",
        "core_configuration_version",
        "core_lock_stripe",
        "core_sign_in_counter",
        "core_worker",
        "core_read_position",
        "core_upkeep",
        "core_external_identity",
    ),
    *(
        "core_stored_answer",
        "extras_plan_owned_object",
        "extras_proposal",
        "extras_change_request_event",
        "extras_required_review",
    ),
    *("extras_tagged_item", "extras_config_context_scope", "dcim_git_device_type"),
    *("extras_git_job_module", "extras_git_local_context", "extras_git_sync", "extras_webhook_attempt"),
}
SUSPECT = re.compile(
    r"secret|passw|token|(^|_)key(_|$)|hash|credential|private|digest|cipher|sealed|salt|pin$", re.IGNORECASE
)
HARMLESS = {
    "core_stored_answer.key_digest",
    "core_stored_answer.request_digest",
    "name_key",
    "tree_key",
    "port_key",
    "extras_git_job_module.digest",
    "extras_plan.digests",
    "secret_id",
    "secret_type",
    "secrets_group_id",
    "is_private",
}


def shown(endpoint: Endpoint) -> set[str]:
    """The columns that its fields show."""
    found: set[str] = set()
    for name, field in endpoint.fields.items():
        if not (field.write_only or field.confidential):
            found |= {name, field.attribute or name, *(field.sources() or ())}
            found |= (
                {field.type_attribute, field.id_attribute} if isinstance(field, fields.GenericForeignKey) else set()
            )
    return found


TABLES = [table for table in Base.metadata.sorted_tables if table.name.startswith(OURS)]


def is_association(table: Any) -> bool:
    """Rows that hold no more than whose they are and what they lead to."""
    return set(table.c.keys()) in ({"owner_id", "target_id"}, {"owner_id", "label"})


@pytest.mark.parametrize("table", TABLES, ids=lambda table: str(table.name))
def test_every_column_is_shown_internal_or_confidential(table: Any) -> None:
    endpoint = REGISTRY.by_table.get(table)
    if endpoint is None:
        assert is_association(table) or table.name in WITHOUT_RESOURCE, "a table that belongs to no resource"
        return
    visible = shown(endpoint)
    for column in table.c:
        name = f"{table.name}.{column.name}"
        if column_info(column).confidential:
            assert name in CONFIDENTIAL and column.name not in visible, f"{name} is confidential"
        elif column.name not in visible:
            assert name in INTERNAL or column.name in INTERNAL, f"{name} is not shown: is it internal, or confidential?"


def test_what_sounds_like_a_credential_is_confidential() -> None:
    columns = [(table, column) for table in TABLES for column in table.c]
    suspects = {
        f"{table.name}.{column.name}"
        for table, column in columns
        if SUSPECT.search(column.name) and column.name not in HARMLESS
    } - HARMLESS
    confidential = {f"{table.name}.{column.name}" for table, column in columns if column_info(column).confidential}
    assert suspects <= confidential == CONFIDENTIAL


def test_no_filter_relation_or_nested_form_has_what_is_confidential() -> None:
    for endpoint in REGISTRY.endpoints.values():
        for name in endpoint.confidential:
            assert name not in endpoint.relations and name not in [field.name for field in endpoint.brief]
            assert not [
                filter_name for filter_name in endpoint.filters if filter_name == name and name != "key"
            ]  # of tokens: whole keys only

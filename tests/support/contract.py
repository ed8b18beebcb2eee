"""Pairs of checks and resources for the contract tests: the gate runs a part of them, ``make test-all`` all.

That part is every :data:`SHARE`-th pair, and of each check the pairs with :data:`LEAST` resources. The others are marked
``repetition``, other ones on each database. On PostgreSQL and MariaDB all pairs are repetitions but those of checks that
are about SQL: the same part of them, and of the resources that have SQL of their own half of the pairs on the one, and
half on the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pytest

from netinv_core.endpoint import Endpoint
from tests.support.databases import DIALECT
from tests.support.registry import REGISTRY
from tests.support.selection import may_run

SHARE = 24  # every so many-th pair is no repetition
LEAST = 4  # a check runs for so many resources or more, if it applies to as many
HEAVY = {  # checks of several seconds: they run for fewer
    "hostile_texts_in_forms_and_searches_are_answered_in_little_time",
    "hostile_values_fail_no_page_and_stay_text",
    "the_name_of_a_part_tells_no_more_than_its_representation",
}
SHIFT = {"sqlite": 0, "postgresql": 5, "mysql": 10}[DIALECT]
ENDPOINTS = REGISTRY.endpoints
SQL_CHECKS = {  # that compare what the database returns, orders, refuses or counts
    "lists_are_ordered_by_every_name_they_offer",
    "several_names_make_one_order",
    "cursors_lead_through_the_list",
    "filters_take_each_notation_and_no_other_text",
    "the_time_of_an_object_finds_it_in_each_notation",
    "parameters_combine",
    "the_negation_of_a_boolean_is_the_rest",
    "delete_leaves_nothing",
    "what_is_in_use_is_protected",
    "what_only_mentions_it_stays",
    "a_deletion_is_reverted_with_the_same_id_and_values",
    "an_upsert_creates_once_and_then_changes_nothing",
    "a_list_is_within_its_budget",
    "changing_and_deleting_do_not_grow",
    "what_is_unique_is_created_once",
    "what_rules_read_of_others_is_locked",
    "a_bulk_write_goes_on_after_errors",
}
OWN_SQL = {  # resources with filters, orders, constraints or counts that others do not have
    "circuits.circuittermination",
    "dcim.cable",
    "dcim.device",
    "dcim.devicetype",
    "dcim.interface",
    "dcim.powerfeed",
    "dcim.rack",
    "dcim.region",
    "dcim.site",
    "dcim.virtualchassis",
    "extras.configcontext",
    "extras.customfield",
    "extras.dynamicgroup",
    "extras.objectchange",
    "extras.relationshipassociation",
    "extras.tag",
    "ipam.aggregate",
    "ipam.ipaddress",
    "ipam.prefix",
    "ipam.service",
    "ipam.vlan",
    "ipam.vrf",
    "tenancy.tenant",
    "virtualization.vminterface",
}


class AnyCheck(Protocol):
    """A check of REST or of pages."""

    @property
    def name(self) -> str:
        """The checked property."""

    @property
    def applies(self) -> Callable[[Endpoint], bool]:
        """True for the resources that have the property."""


def contract_pairs(checks: Sequence[AnyCheck], *, any_database: bool = False) -> list[Any]:
    """Returns the parameters ``check, label`` of a test of every check with every resource that it applies to.

    The pairs that are no repetitions lie on diagonals: a part of the resources of each check (:data:`SHARE`,
    :data:`LEAST`), and of the checks of each resource.

    :param any_database: repetitions run on SQLite alone
    """
    pairs = []
    for number, check in enumerate(checks):
        labels = [label for label in sorted(ENDPOINTS) if check.applies(ENDPOINTS[label])]
        least = 2 if check.name in HEAVY else LEAST
        marks = _repetitions(len(labels), number, any_database=any_database, least=least)
        for label, repeated in zip(labels, marks, strict=True):
            is_own = label in OWN_SQL and (number + sorted(OWN_SQL).index(label) + SHIFT) % 2 == 0
            marks_of_pair = repeated if DIALECT == "sqlite" else _marks_on_servers(check.name, repeated, is_own=is_own)
            if may_run(marks_of_pair):
                pairs.append(pytest.param(check, label, id=f"{label}-{check.name}", marks=marks_of_pair))
    return sorted(pairs, key=lambda pair: str(pair.values[1]))  # the tests of a resource stay together


def _marks_on_servers(check: str, repeated: list[Any], *, is_own: bool) -> list[Any]:
    if check not in SQL_CHECKS:
        return [*repeated, pytest.mark.repetition]
    return [] if is_own else repeated


def every_resource() -> list[Any]:
    """Returns the parameters ``label`` of a test of every resource, most of them repetitions."""
    return every(sorted(ENDPOINTS))


def every(values: Sequence[Any], first: int = 0, *, any_database: bool = False) -> list[Any]:
    """Returns the parameters of a test of every value, most of them repetitions.

    :param first: shifts which of them are no repetitions
    :param any_database: repetitions run on SQLite alone
    """
    return [
        pytest.param(value, marks=marks)
        for value, marks in zip(values, _repetitions(len(values), first, any_database=any_database), strict=True)
        if may_run(marks)
    ]


def _repetitions(count: int, first: int = 0, *, any_database: bool = False, least: int = LEAST) -> list[list[Any]]:
    """The marks of the tests of so many resources; ``first`` shifts which of them are no repetitions."""
    share = max(1, min(SHARE if least == LEAST else count, count // least))
    is_repeated = [(first + SHIFT + position) % share != 0 for position in range(count)]
    marks = [pytest.mark.repetition, *([pytest.mark.any_database] if any_database else [])]
    return [marks if repeated else [] for repeated in is_repeated]

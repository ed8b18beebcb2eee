"""Tests that the gate leaves to ``make test-all``, which each night runs: they are marked ``night``.

A test that is heavy and finds little has the mark itself. Of a test with many cases, all but :data:`CASES` have it, and of
the tests in Chromium all but :data:`JOURNEYS`. Of the tests that the gate runs on PostgreSQL and MariaDB, one half has it on the
one and the other half on the other, but for those in :data:`BOTH_SERVERS`.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.databases import DIALECT

JOURNEYS = {  # in Chromium, of each area and of each script
    "test_a_cell_of_a_table_with_folded_columns_is_changed_by_keys",
    "test_a_device_is_moved_by_keys_alone",
    "test_a_failed_delivery_is_found_and_retried_until_it_is_sent",
    "test_a_form_is_proposed",
    "test_a_grid_is_filled_by_keys_alone",
    "test_a_header_sorts_the_list",
    "test_a_job_is_run_from_its_form_and_its_log_appears_while_it_runs",
    "test_a_level_is_opened_and_closed_by_keys",
    "test_a_list_is_filtered_by_chips_and_the_browser_goes_back",
    "test_a_picker_searches_and_takes_the_choice",
    "test_a_port_is_connected_by_keys_alone",
    "test_a_refused_value_and_a_conflict_are_shown_at_the_cell",
    "test_a_request_is_sent_from_the_form_of_the_browsable_api",
    "test_a_site_is_created_edited_and_deleted",
    "test_a_split_is_previewed_and_made_by_keys",
    "test_a_token_is_made_shown_once_and_used",
    "test_a_visitor_signs_in_by_keyboard_and_lands_where_they_were_going",
    "test_an_error_puts_the_focus_on_its_summary_which_leads_to_the_field",
    "test_counts_and_parts_of_a_page_are_fetched",
    "test_devices_are_dragged_exchanged_and_applied_at_once",
    "test_menus_keys_and_the_palette_lead_below_the_path",
    "test_next_leads_through_the_list_one_came_from",
    "test_on_a_phone_the_menu_opens_and_rows_are_cards",
    "test_ports_are_paired_by_dragging_and_by_keys",
    "test_ports_are_selected_and_disabled_by_the_mouse",
    "test_quick_search_narrows_the_list_while_typing",
    "test_selected_objects_are_changed_together_after_a_preview_and_undone",
    "test_the_navigation_and_the_counts_fold_and_stay_so",
    "test_the_palette_finds_a_device_and_opens_it",
    "test_the_tree_fits_the_window",
    "test_two_editors_change_different_fields_and_both_changes_stay",
    "test_what_a_pattern_stands_for_is_shown_while_it_is_typed",
    "test_what_was_typed_survives_the_end_of_the_session",
    "test_without_scripts_lists_and_forms_work",
}
CASES = 1  # that the gate runs of a test with more
EVERY_CASE = (  # where it runs all of them
    "tests/ci",
    "tests/specification",
    "tests/test_architecture.py",
    "tests/test_contract.py",
    "tests/web/test_contract_pages.py",
)
BOTH_SERVERS = (  # locks, plans and notations, which differ most; and the contract, which divides its pairs itself
    "tests/core/db/test_same_answers.py",
    "tests/core/write/test_concurrency.py",
    "tests/core/write/test_lock_order.py",
    "tests/core/write/test_lock_order_of_batches.py",
    "tests/core/write/test_races.py",
    "tests/extras/webhooks/test_webhook_claims.py",
    "tests/ipam/test_prefix_tree.py",
    "tests/test_contract.py",
)
HALF = {"postgresql": 0, "mysql": 1}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks further journeys, further cases of tests, and the half of the tests that another server runs."""
    cases: dict[tuple[str, str], list[Any]] = {}
    for item in items:
        module = item.nodeid.partition("::")[0]
        name = getattr(item, "originalname", "")
        if (_is_in(module, ["tests/browser"]) and name not in JOURNEYS) or _is_of_another_server(module, name):
            item.add_marker("night")
        elif isinstance(item, pytest.Function) and hasattr(item, "callspec") and not _is_in(module, EVERY_CASE):
            cases.setdefault((module, item.originalname), []).append(item)
    for found in cases.values():
        for item in further_cases(found):
            item.add_marker("night")


def further_cases(items: list[Any]) -> list[Any]:
    """The cases of a test that the gate leaves out: all but :data:`CASES`, those with the lowest checksums of their ids, so
    that a new case takes the place of one at most.
    """
    return sorted(items, key=lambda item: zlib.crc32(item.name.encode()))[CASES:]


def _is_of_another_server(module: str, name: str) -> bool:
    if DIALECT not in HALF or _is_in(module, BOTH_SERVERS):
        return False
    return zlib.crc32(f"{module}::{name}".encode()) % 2 != HALF[DIALECT]


def _is_in(module: str, parts: Sequence[str]) -> bool:
    return any(f"{module}/".startswith(f"{part}/") for part in parts)

"""``netinv rules``: the functions that run on writes and deletions, with those of hooks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from netinv_admin.commands.cli import cli

pytestmark = pytest.mark.any_database


@pytest.fixture
def rules(tmp_path: Path) -> Callable[..., Result]:
    """``rules(*words)``: the result of the command; it does not connect to the database."""
    ini = tmp_path / "netinv.ini"
    secret = "s" * 40
    ini.write_text(
        f"[app:main]\nuse = egg:netinv-core\nnetinv.secret = {secret}\n"
        f"netinv.database_url = sqlite:///{tmp_path}/none.sqlite\n"
    )
    return lambda *words: CliRunner().invoke(cli, ["-c", str(ini), "rules", *words])


def test_the_functions_of_a_resource_are_listed_in_the_order_they_run(rules: Callable[..., Result]) -> None:
    lines = rules("ipam/ip-addresses").output.splitlines()
    assert lines[0] == "ipam.ipaddress (/api/ipam/ip-addresses/)"
    assert [line for line in lines if line.startswith("  ") and line[2] != " "] == [
        "  prepare",
        "  rule",
        "  rule of objects that refer to it",
    ]
    no_zero = "    netinv_ipam.networks.reject_zero_prefix.no_zero_mask: Rejects the prefix length 0."
    assert next(line for line in lines if "no_zero_mask" in line) == no_zero
    own, other = (
        next(number for number, line in enumerate(lines) if f".{name}: " in line)
        for name in ("no_duplicates", "primary_addresses_stay")
    )
    assert lines.index("  rule") < own < other


def test_functions_after_a_write_and_before_a_deletion_are_listed(rules: Callable[..., Result]) -> None:
    lines = rules("dcim.device").output.splitlines()
    after_save = lines[lines.index("  after_save") :]
    assert any("instantiate_components: After new devices are saved" in line for line in after_save)
    assert "  before_delete" in rules("dcim.cable").output.splitlines()


def test_rules_of_a_plugin_are_listed_with_its_module(
    install: Callable[[str], None], rules: Callable[..., Result]
) -> None:
    install("guest")
    assert rules("tenancy/tenants").output.splitlines().count("    netinv_guest.netinv_rules.no_nobody") == 1


def test_a_path_may_be_that_of_the_api(rules: Callable[..., Result]) -> None:
    assert rules("/api/dcim/devices/").output == rules("dcim.device").output


@pytest.mark.night
def test_without_a_resource_all_are_listed(rules: Callable[..., Result]) -> None:
    output = rules().output
    assert rules("dcim.device").output in output
    assert rules("users.user").output in output


def test_a_resource_that_does_not_exist_is_refused(rules: Callable[..., Result]) -> None:
    result = rules("dcim/nothing")
    assert result.exit_code == 1
    assert "no resource is called 'dcim/nothing'" in result.output

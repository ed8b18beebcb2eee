"""The contract, over every resource of every installed package."""

from __future__ import annotations

import pytest

from netinv_testing import CHECKS, Case, Check, Service
from tests.support.contract import contract_pairs
from tests.support.inputs import Inputs

A_THOUSAND = {"dcim.device", "dcim.site", "ipam.ipaddress", "tenancy.tenant"}


@pytest.mark.parametrize(("check", "label"), contract_pairs(CHECKS))
def test_every_resource(check: Check, label: str, service: Service, inputs: Inputs) -> None:
    """Each check of the contract holds for each resource it applies to."""
    check(Case(service, label, many=1000 if label in A_THOUSAND else 30, **inputs.case_options))

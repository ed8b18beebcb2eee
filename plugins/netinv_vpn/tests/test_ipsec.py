"""IKE and IPsec: proposals, policies and profiles of tunnels, their keys, pages, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique
from netinv_web.testing import Browser
from tests.support.dumps import item

PATH = "/api/plugins/vpn"
IKE_PROPOSALS, IKE_POLICIES, PROPOSALS, POLICIES, PROFILES, TUNNELS = (
    f"{PATH}/{name}/"
    for name in ("ike-proposals", "ike-policies", "ipsec-proposals", "ipsec-policies", "ipsec-profiles", "tunnels")
)
KEY = "correct horse battery staple"


@pytest.fixture
def profile(service: Service) -> Any:
    """A profile with its policies."""
    return Case(service, "vpn.ipsecprofile").make()


def test_a_policy_lists_proposals_and_hides_its_key(api: Api, unique: Unique) -> None:
    body = {"name": unique(), "authentication_method": "preshared-keys", "encryption_algorithm": "aes-256-gcm"}
    proposal = api.post(IKE_PROPOSALS, body)
    assert proposal["group"] == {"value": 14, "label": "Group 14"}
    policy = api.post(IKE_POLICIES, {"name": unique(), "proposals": [proposal["id"]], "preshared_key": KEY})
    assert [one["id"] for one in policy["proposals"]] == [proposal["id"]]
    changes = api.get("/api/extras/object-changes/", {"changed_object_id": policy["id"]})["results"]
    assert KEY not in str([policy, api.get(f"{IKE_POLICIES}{policy['id']}/"), changes])
    assert [one["id"] for one in api.get(IKE_POLICIES, {"proposals": proposal["id"]})["results"]] == [policy["id"]]


def test_only_the_first_version_of_ike_has_a_mode(api: Api, unique: Unique) -> None:
    policy = api.post(IKE_POLICIES, {"name": unique()})
    path = f"{IKE_POLICIES}{policy['id']}/"
    assert (policy["version"]["label"], policy["mode"]) == ("IKEv2", None)
    assert api.patch(path, {"version": 1}, status=400) == {"mode": ["IKEv1 needs a mode."]}
    assert api.patch(path, {"mode": "main"}, status=400) == {"mode": ["IKEv2 has no modes."]}
    assert api.patch(path, {"version": 1, "mode": "main"})["mode"]["label"] == "Main"


def test_a_proposal_of_ipsec_has_an_algorithm(api: Api, unique: Unique) -> None:
    assert list(api.post(PROPOSALS, {"name": unique()}, status=400)) == ["encryption_algorithm"]
    made = api.post(PROPOSALS, {"name": unique(), "authentication_algorithm": "hmac-sha256"})
    assert list(api.patch(f"{PROPOSALS}{made['id']}/", {"authentication_algorithm": ""}, status=400)) == [
        "encryption_algorithm"
    ]


def test_a_group_is_one_that_exists_or_none(api: Api, unique: Unique) -> None:
    assert api.post(POLICIES, {"name": unique()})["pfs_group"] is None
    assert list(api.post(POLICIES, {"name": unique(), "pfs_group": 3}, status=400)) == ["pfs_group"]


def test_a_profile_of_tunnels_is_kept(api: Api, service: Service, unique: Unique, profile: Any) -> None:
    tunnel = api.post(TUNNELS, {"name": unique(), "status": "active", "ipsec_profile": profile["id"]})
    for path in (f"{PROFILES}{profile['id']}/", f"{IKE_POLICIES}{profile['ike_policy']['id']}/"):
        api.delete(path, status=409)
    assert [one["id"] for one in api.get(TUNNELS, {"ipsec_profile": profile["id"]})["results"]] == [tunnel["id"]]
    page = Browser(service, service.admin).get(f"/plugins/vpn/tunnels/{tunnel['id']}/")
    assert profile["name"] in page.text


def test_policies_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique) -> None:
    name = unique()
    report = load_dump(
        item("vpn.ikeproposal", 1, name=name, authentication_method="preshared-keys",
             encryption_algorithm="aes-128-cbc", authentication_algorithm="hmac-sha1", group=14, sa_lifetime=None),
        item("vpn.ikepolicy", 1, name=name, version=1, mode="aggressive", proposals=[1], preshared_key=KEY),
        item("vpn.ipsecproposal", 1, name=name, encryption_algorithm="3des-cbc", authentication_algorithm=None,
             sa_lifetime_seconds=3600, sa_lifetime_data=None),
        item("vpn.ipsecpolicy", 1, name=name, proposals=[1], pfs_group=None),
        item("vpn.ipsecprofile", 1, name=name, mode="ah", ike_policy=1, ipsec_policy=1),
        item("vpn.tunnel", 1, name=name, status="active", encapsulation="ipsec-tunnel", ipsec_profile=1),
    )  # fmt: skip
    for model in ("ikeproposal", "ikepolicy", "ipsecproposal", "ipsecpolicy", "ipsecprofile", "tunnel"):
        assert report.counts()[f"vpn.{model}"] == {"created": 1}, report.reasons
    assert report.left_out == {("vpn.ikepolicy", "preshared_key", "secrets are not imported"): 1}
    (tunnel,) = api.get(TUNNELS, {"name": name})["results"]
    profile = api.get(f"{PROFILES}{tunnel['ipsec_profile']['id']}/")
    policy = api.get(f"{IKE_POLICIES}{profile['ike_policy']['id']}/")
    assert (profile["mode"]["value"], policy["mode"]["value"]) == ("ah", "aggressive")
    assert [proposal["name"] for proposal in policy["proposals"]] == [name]

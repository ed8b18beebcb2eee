"""Provider accounts: numbers, circuits, pages, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique
from netinv_testing.checks.racing import race
from netinv_web.testing import Browser
from tests.support.dumps import item, named

ACCOUNTS, CIRCUITS = "/api/plugins/provider_accounts/provider-accounts/", "/api/circuits/circuits/"


@pytest.fixture
def make_circuit(service: Service) -> Any:
    """``make_circuit(…)``: a circuit, of a new provider unless one is given."""
    return lambda **members: Case(service, "circuits.circuit").make(**members)


@pytest.fixture
def circuit(make_circuit: Any) -> Any:
    """A circuit of a new provider."""
    return make_circuit()


@pytest.fixture
def make_account(api: Api, unique: Unique) -> Any:
    """``make_account(provider, …)``: an account."""

    def post(provider: Any, status: int = 201, **other: Any) -> Any:
        return api.post(ACCOUNTS, {"account": unique(), "provider": provider["id"], **other}, status=status)

    return post


def test_a_number_is_unique_for_its_provider(circuit: Any, make_circuit: Any, make_account: Any) -> None:
    made = make_account(circuit["provider"], name="Backbone")
    assert made["display"] == f"{made['account']} (Backbone)"
    make_account(circuit["provider"], account=made["account"], status=400)
    other = make_account(make_circuit()["provider"], account=made["account"])
    assert other["display"] == made["account"]


def test_circuits_are_of_the_provider(api: Api, circuit: Any, make_circuit: Any, make_account: Any) -> None:
    provider, other = circuit["provider"], make_circuit()
    made = make_account(provider, circuits=[circuit["id"]])
    reason = {"circuits": ["The circuits must be of the provider."]}
    assert make_account(provider, circuits=[other["id"]], status=400) == reason
    path = f"{ACCOUNTS}{made['id']}/"
    assert api.patch(path, {"provider": other["provider"]["id"]}, status=400) == reason
    refused = api.patch(f"{CIRCUITS}{circuit['id']}/", {"provider": other["provider"]["id"]}, status=400)
    assert made["account"] in str(refused)
    api.patch(path, {"provider": other["provider"]["id"], "circuits": [other["id"]]})
    assert [one["id"] for one in api.get(CIRCUITS, {"provider_accounts": made["id"]})["results"]] == [other["id"]]


def test_a_circuit_is_of_one_account(api: Api, circuit: Any, make_account: Any) -> None:
    provider = circuit["provider"]
    first, second = make_account(provider, circuits=[circuit["id"]]), make_account(provider)
    body = [{"id": second["id"], "circuits": [circuit["id"]]}]
    assert api.patch(ACCOUNTS, body, status=400) == {"circuits": ["A circuit is of one account only."]}
    moved = api.patch(ACCOUNTS, [{"id": first["id"], "circuits": []}, *body])
    assert [[one["id"] for one in account["circuits"]] for account in moved] == [[], [circuit["id"]]]
    api.patch(f"{ACCOUNTS}{second['id']}/", {"description": "x"})


def test_two_accounts_do_not_take_a_circuit_at_the_same_time(
    api: Api, service: Service, circuit: Any, make_account: Any
) -> None:
    accounts = [make_account(circuit["provider"]) for _ in range(4)]
    calls = [
        lambda api, path=f"{ACCOUNTS}{one['id']}/": api.send(
            "PATCH", path, {"circuits": [circuit["id"]]}, status=(200, 400)
        )
        for one in accounts
    ]
    assert sorted(answer.status_int for answer in race(service, calls)) == [200, 400, 400, 400]


def test_the_rule_takes_as_many_statements_for_many_accounts_as_for_one(
    api: Api, unique: Unique, make_circuit: Any, statements: Any
) -> None:
    def bodies(count: int) -> list[Any]:
        circuits = [make_circuit() for _ in range(count)]
        return [{"account": unique(), "provider": one["provider"]["id"], "circuits": [one["id"]]} for one in circuits]

    api.post(ACCOUNTS, bodies(1))
    few, several = bodies(1), bodies(5)
    with statements() as one:
        api.post(ACCOUNTS, few)
    with statements() as many:
        api.post(ACCOUNTS, several)
    assert len(many) == len(one)


def test_a_provider_with_accounts_is_kept_and_a_circuit_is_not(api: Api, circuit: Any, make_account: Any) -> None:
    made = make_account(circuit["provider"], circuits=[circuit["id"]])
    api.delete(f"{CIRCUITS}{circuit['id']}/")
    assert api.get(f"{ACCOUNTS}{made['id']}/")["circuits"] == []
    api.delete(f"/api/circuits/providers/{circuit['provider']['id']}/", status=409)


def test_providers_and_circuits_have_a_tab_of_accounts(service: Service, circuit: Any, make_account: Any) -> None:
    made = make_account(circuit["provider"], circuits=[circuit["id"]])
    browser = Browser(service, service.admin)
    for page in (f"/circuits/providers/{circuit['provider']['id']}/", f"/circuits/circuits/{circuit['id']}/"):
        assert made["account"] in browser.get(f"{page}provider-accounts/").text
    page = browser.get(f"/plugins/provider_accounts/provider-accounts/{made['id']}/circuits/")
    assert circuit["cid"] in page.text


def test_accounts_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique) -> None:
    name = unique()
    report = load_dump(
        named("circuits.provider", 1, name),
        item("circuits.provideraccount", 1, provider=1, account="4711", name="Backbone", description="", comments=""),
        named("circuits.circuittype", 1, name),
        item("circuits.circuit", 1, cid=name, provider=1, provider_account=1, type=1, status="active"),
    )
    assert report.counts()["circuits.provideraccount"] == {"created": 1}
    (made,) = api.get(ACCOUNTS, {"provider": name.lower()})["results"]
    assert (made["account"], made["name"]) == ("4711", "Backbone")
    assert [one["cid"] for one in made["circuits"]] == [name]
    (circuit,) = api.get(CIRCUITS, {"cid": name})["results"]
    assert "netbox_provider_account" not in circuit["custom_fields"]

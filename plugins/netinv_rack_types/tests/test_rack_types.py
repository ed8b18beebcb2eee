"""Rack types: the form of racks, who may change it, files, pages, undo, and the import of types."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique
from netinv_web.testing import Browser
from tests.support.dumps import item, named

TYPES, RACKS = "/api/plugins/rack_types/rack-types/", "/api/dcim/racks/"
FORM = {
    "form_factor": "4-post-frame", "width": 23, "u_height": 20, "desc_units": True,
    "outer_width": 600, "outer_depth": 1070, "outer_unit": "mm",
}  # fmt: skip


@pytest.fixture
def make_type(service: Service) -> Any:
    """``make_type(u_height=20)``: a rack type."""
    return Case(service, "rack_types.racktype").make


@pytest.fixture
def make_rack(api: Api, service: Service) -> Any:
    """``make_rack(rack_type=…)``: a rack, written as described."""
    case = Case(service, "dcim.rack")

    def make(status: int = 201, **members: Any) -> Any:
        body = {name: value for name, value in case.body().items() if name in ("name", "site", "status")}
        return api.post(RACKS, {**body, **members}, status=status)

    return make


def form_of(rack: Any) -> dict[str, Any]:
    """The form of a rack by the names that types have for it."""
    values = {there: rack["type" if there == "form_factor" else there] for there in FORM}
    return {name: value["value"] if isinstance(value, dict) else value for name, value in values.items()}


def test_a_new_rack_has_the_form_of_its_type(make_type: Any, make_rack: Any) -> None:
    type_ = make_type(**FORM)
    rack = make_rack(rack_type=type_["id"])
    assert form_of(rack) == FORM
    assert rack["rack_type"]["id"] == type_["id"] and rack["rack_type"]["display"] == type_["model"]
    assert form_of(make_rack(rack_type={"slug": type_["slug"]}, u_height=42, width=19)) == FORM
    assert make_rack()["rack_type"] is None


def test_a_rack_that_gets_a_type_gets_its_form_and_keeps_it_afterwards(
    api: Api, make_type: Any, make_rack: Any
) -> None:
    rack, type_ = make_rack(), make_type(**FORM)
    path = f"{RACKS}{rack['id']}/"
    assert form_of(api.patch(path, {"rack_type": type_["id"]})) == FORM
    assert api.patch(path, {"u_height": 30}, status=400) == {"u_height": ["The rack type has 20."]}
    assert list(api.patch(path, {"rack_type": type_["id"], "type": "other"}, status=400)) == ["type"]
    assert form_of(api.patch(path, {"u_height": 20, "serial": "7"})) == FORM
    freed = api.patch(path, {"rack_type": None})
    assert (freed["rack_type"], form_of(freed)) == (None, FORM)
    assert api.patch(path, {"u_height": 30})["u_height"] == 30


@pytest.mark.parametrize("value", [7, "nonsense", ["x"], {"slug": "no-such-type"}, {}, True])
def test_what_is_no_type_is_refused(make_rack: Any, value: Any) -> None:
    assert list(make_rack(rack_type=value, status=400)) == ["rack_type"]


def test_racks_follow_their_type_in_a_constant_number_of_statements(
    api: Api, make_type: Any, make_rack: Any, statements: Any
) -> None:
    few, many = make_type(), make_type()
    racks = [make_rack(rack_type=type_["id"]) for type_ in (few, many, many, many)]
    found = []
    for height, type_ in ((50, few), (51, few), (51, many)):
        with statements() as counted:
            api.patch(f"{TYPES}{type_['id']}/", {"u_height": height})
        found.append(len(counted))
    assert found[1] == found[2]
    assert [api.get(f"{RACKS}{rack['id']}/")["u_height"] for rack in racks] == [51] * 4
    assert api.get(TYPES, {"id": many["id"]})["results"][0]["rack_count"] == 3


def test_a_type_does_not_shrink_below_what_is_in_its_racks(
    api: Api, service: Service, make_type: Any, make_rack: Any
) -> None:
    type_, small = make_type(), make_type(u_height=3)
    rack = make_rack(rack_type=type_["id"])
    Case(service, "dcim.device").make(rack=rack["id"], site=rack["site"]["id"], position=10, face="front")
    assert list(api.patch(f"{TYPES}{type_['id']}/", {"u_height": 5}, status=400)) == ["u_height"]
    assert api.get(f"{TYPES}{type_['id']}/")["u_height"] == type_["u_height"]
    assert list(api.patch(f"{RACKS}{rack['id']}/", {"rack_type": small["id"]}, status=400)) == ["u_height"]


def test_types_of_racks_are_kept_and_racks_are_found_by_type(api: Api, make_type: Any, make_rack: Any) -> None:
    type_ = make_type()
    rack = make_rack(rack_type=type_["id"])
    for value in (type_["id"], type_["slug"]):
        assert [one["id"] for one in api.get(RACKS, {"rack_type": value})["results"]] == [rack["id"]]
    assert api.get(RACKS, {"has_rack_type": "false", "id": rack["id"]})["count"] == 0
    assert rack["name"] in str(api.delete(f"{TYPES}{type_['id']}/", status=409))
    api.delete(f"{RACKS}{rack['id']}/")
    api.delete(f"{TYPES}{type_['id']}/")


def test_the_type_is_in_files_and_graphql(api: Api, make_type: Any, make_rack: Any) -> None:
    type_ = make_type()
    rack = make_rack(rack_type=type_["id"])
    table = api.send("GET", RACKS, query={"id": rack["id"], "format": "csv"}).text
    assert "rack_type" in table.splitlines()[0] and type_["slug"] in table
    query = f'{{ rack(id: "{rack["id"]}") {{ rack_type {{ model racks {{ name }} }} }} }}'
    found = api.post("/api/graphql/", {"query": query}, status=200)["data"]["rack"]["rack_type"]
    assert found == {"model": type_["model"], "racks": [{"name": rack["name"]}]}


def test_measures_have_a_unit(api: Api, make_type: Any) -> None:
    without = {"outer_width": None, "outer_unit": "", "weight": None, "weight_unit": ""}
    path = f"{TYPES}{make_type(**without)['id']}/"
    assert list(api.patch(path, {"outer_width": 600, "outer_unit": ""}, status=400)) == ["outer_unit"]
    assert list(api.patch(path, {"weight": "80.5"}, status=400)) == ["weight_unit"]
    assert api.patch(path, {"max_weight": 900, "weight_unit": "kg"})["weight_unit"]["label"] == "Kilograms"
    assert api.patch(path, {"max_weight": None, "weight": None})["weight_unit"] is None


def test_pages_show_the_type_and_fill_the_form(service: Service, make_type: Any, make_rack: Any) -> None:
    type_ = make_type(**FORM)
    rack, browser = make_rack(rack_type=type_["id"]), Browser(service, service.admin)
    assert type_["model"] in browser.get(f"/dcim/racks/{rack['id']}/").text
    page = browser.get(f"/plugins/rack_types/rack-types/{type_['id']}/racks/")
    assert rack["name"] in page.text
    link = page.html.find("a", href=lambda path: path and "/dcim/racks/add/?" in path)
    form = browser.get(link["href"]).html
    assert form.find(attrs={"name": "u_height"})["value"] == "20"
    assert type_["id"] in str(form.find(attrs={"name": "rack_type"}))


def test_rack_types_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique) -> None:
    name = unique()
    objects = [
        named("dcim.site", 1, name, status="active"),
        named("dcim.manufacturer", 1, name),
        item("dcim.racktype", 1, manufacturer=1, model=name, slug=name.lower(), **FORM, starting_unit=1,
             mounting_depth=800, weight="80.50", max_weight=900, weight_unit="kg", description="x", comments=""),
        item("dcim.rack", 1, name=name, site=1, status="active", rack_type=1, **FORM),
        item("dcim.rack", 2, name=f"{name} 2", site=1, status="active", rack_type=None, width=19, u_height=42),
    ]  # fmt: skip
    report = load_dump(*objects)
    assert report.counts()["dcim.racktype"] == {"created": 1}, report.reasons
    assert not report.left_out
    (type_,) = api.get(TYPES, {"slug": name.lower()})["results"]
    assert (type_["weight"], type_["mounting_depth"], type_["outer_unit"]["value"]) == ("80.50", 800, "mm")
    (rack,) = api.get(RACKS, {"rack_type": type_["id"]})["results"]
    assert (rack["name"], form_of(rack)) == (name, FORM)
    assert "netbox_rack_type" not in rack["custom_fields"]
    again = load_dump(*objects)
    assert again.counts()["dcim.rack"] == {"unchanged": 2}

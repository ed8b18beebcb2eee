"""Tables of ports on the pages of devices: addresses, VLANs, the other end, and what is done with many of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Api, Service, Unique
from netinv_web.testing import Browser, BrowserPage
from tests.support.cabling_fixtures import End, Plant

pytestmark = pytest.mark.any_database
MakeUser = Callable[..., Account]
MAX_STATEMENTS = 12


@pytest.fixture
def plant(api: Api, unique: Unique) -> Plant:
    """A cable plant."""
    return Plant(api, unique)


@pytest.fixture
def device(plant: Plant) -> str:
    """A device without components."""
    return plant.device()


def table(browser: Browser, device: str, tab: str = "interfaces", **query: Any) -> dict[str, dict[str, Any]]:
    """The cells of the table by the names of the port and the column."""
    page = browser.get(f"/dcim/devices/{device}/{tab}/", query).html
    titles = [cell.get_text(strip=True) for cell in page.select("table.list thead th")]
    return {
        row.th.get_text(strip=True): dict(zip(titles[1:], row.select("td:not(.select, .row-links)"), strict=True))
        for row in page.select("table.list tbody tr")
    }


def words(cell: Any) -> str:
    return " ".join(cell.get_text().split())


def give_address(api: Api, port: Any, address: str, **values: Any) -> Any:
    body = {"address": address, "status": "active", "assigned_object_type": port.label, "assigned_object_id": port.id}
    return api.post("/api/ipam/ip-addresses/", {**body, **values})


def name_of(api: Api, path: str) -> str:
    return str(api.get(path)["name"])


def test_ports_show_their_addresses_with_the_vrf(
    browser: Browser, api: Api, plant: Plant, device: str, unique: Unique
) -> None:
    port, name = plant.end(device=device, name="eth0"), unique()
    vrf = api.post("/api/ipam/vrfs/", {"name": name})
    plain = give_address(api, port, "10.1.2.3/24")
    for number in (3, 4):
        give_address(api, port, f"10.9.2.{number}/24", vrf=vrf["id"])
    cell = table(browser, device)["eth0"]["Addresses"]
    assert words(cell) == f"10.1.2.3/24, 10.9.2.3/24, 10.9.2.4/24 {name}"
    assert cell.a["href"] == f"/ipam/ip-addresses/{plain['id']}/"


def test_ports_show_their_vlans_by_number_and_name(
    browser: Browser, api: Api, plant: Plant, device: str, unique: Unique
) -> None:
    bodies = [
        {"vid": number, "name": f"net {number}", "status": "active", "site": plant.site} for number in range(10, 16)
    ]
    first, *others = [made["id"] for made in api.post("/api/ipam/vlans/", bodies)]
    plant.end(device=device, name="eth0", mode="tagged", untagged_vlan=first, tagged_vlans=others)
    plant.end(device=device, name="eth1", mode="tagged", tagged_vlans=others[:1])
    rows = table(browser, device)
    assert words(rows["eth0"]["Untagged"]) == "10 net 10"
    assert words(rows["eth0"]["Tagged"]) == "11, 12, 13, 14, 15"
    assert [link["title"] for link in rows["eth0"]["Tagged"].select("a")][:2] == ["11 net 11", "12 net 12"]
    assert words(rows["eth1"]["Tagged"]) == "11 net 11"


def test_the_other_end_is_shown_by_way_of_the_panel(browser: Browser, api: Api, plant: Plant, device: str) -> None:
    port, other = plant.end(device=device, name="eth0"), plant.end(name="xe-0/0/1")
    near, far = plant.panel(), plant.panel()
    plant.cables((port, near.fronts[0]), (near.rear, far.rear), (far.fronts[0], other))
    cell = table(browser, device)["eth0"]["Connected to"]
    panel = name_of(api, f"/api/dcim/devices/{near.device}/")
    switch = api.get(other.path)["device"]["display"]
    assert words(cell) == f"{panel} › 1 → {switch} › xe-0/0/1"
    links = [link["href"] for link in cell.select("a")]
    assert links == [f"/dcim/front-ports/{near.fronts[0].id}/", f"/dcim/interfaces/{other.id}/"]


def test_paths_that_are_planned_or_end_early_say_so(browser: Browser, plant: Plant, device: str) -> None:
    planned, short = plant.end(device=device, name="eth0"), plant.end(device=device, name="eth1")
    plant.cable(planned, plant.end(), "planned", label="C1", color="00ff00")
    plant.cable(short, plant.panel().fronts[0])
    rows = table(browser, device)
    assert words(rows["eth0"]["Connected to"]).endswith("not connected")
    assert words(rows["eth1"]["Connected to"]).endswith("the path ends there")
    cable = rows["eth0"]["Cable"]
    assert words(cable) == "C1 Planned" and cable.circle["fill"] == "#00ff00"


def test_ports_of_panels_show_where_each_side_leads(browser: Browser, api: Api, plant: Plant) -> None:
    panel, other = plant.panel(2), plant.end(name="eth7")
    plant.cable(panel.fronts[0], other)
    rows = table(browser, panel.device, "front-ports")
    assert words(rows["1"]["Connected to"]) == f"{api.get(other.path)['device']['display']} › eth7"
    assert words(rows["2"]["Connected to"]) == "Connect"


def test_free_ports_lead_to_the_form_that_connects_them(
    service: Service, browser: Browser, plant: Plant, device: str, make_user: MakeUser
) -> None:
    plant.end(device=device, name="eth0")
    plant.end(device=device, name="lo0", type="virtual")
    rows = table(browser, device)
    browser.get(rows["eth0"]["Connected to"].a["href"], status=200)
    assert words(rows["lo0"]["Connected to"]) == "–"
    reader = make_user(("view", "dcim.device"), ("view", "dcim.interface"), password="a password")
    assert "Connected to" not in table(Browser(service, reader), device)["eth0"]


def test_members_are_below_what_they_belong_to(browser: Browser, plant: Plant, device: str) -> None:
    lag = plant.end(device=device, name="ae0", type="lag")
    for name in ("xe-1", "xe-0"):
        plant.end(device=device, name=name, lag=lag.id)
    plant.end(device=device, name="ae0.100", type="virtual", parent_interface=lag.id)
    plant.end(device=device, name="ge-0")
    page = browser.get(f"/dcim/devices/{device}/interfaces/").html
    names = [(cell.get_text(strip=True), cell.get("class")) for cell in page.select("table.list tbody th")]
    below = ["below-1"]
    assert names == [("ae0", None), ("ae0.100", below), ("xe-0", below), ("xe-1", below), ("ge-0", None)]
    ordered = browser.get(f"/dcim/devices/{device}/interfaces/?ordering=-name").html
    assert ordered.select_one(".below-1") is None


def test_pages_of_a_nested_table_follow_each_other(browser: Browser, plant: Plant, device: str) -> None:
    lag = plant.end(device=device, name="ae9", type="lag")
    plant.ends("dcim.interface", 24, device)
    plant.end(device=device, name="a-member", lag=lag.id)
    first, second = (table(browser, device, per_page=25, page=number) for number in (1, 2))
    assert len(first) == 25 and len(second) == 1
    assert len({*first, *second}) == 26


def test_columns_without_values_are_folded_unless_asked_for(browser: Browser, plant: Plant, device: str) -> None:
    plant.end(device=device, name="eth0")
    page = browser.get(f"/dcim/devices/{device}/interfaces/").html
    assert "Label" not in page.select_one("table.list thead").text
    assert "Label" in page.find("p", string=lambda text: text and text.startswith("Empty:")).text
    asked = browser.get(f"/dcim/devices/{device}/interfaces/?_columns=label,addresses").html
    assert {"Label", "Addresses"} <= {cell.get_text(strip=True) for cell in asked.select("thead th")}


@pytest.mark.night
def test_a_column_that_says_yes_everywhere_is_folded(browser: Browser, plant: Plant, device: str) -> None:
    ports = [plant.end(device=device, name=name) for name in ("eth0", "eth1")]
    page = browser.get(f"/dcim/devices/{device}/interfaces/")
    assert "Enabled" not in page.html.select_one("table.list thead").text
    assert "Enabled: Yes in each row." in page.words
    plant.api.patch(ports[1].path, {"enabled": False})
    assert [row["Enabled"].text for row in table(browser, device).values()] == ["Yes", "No"]
    plant.api.patch(ports[0].path, {"enabled": False})
    assert [row["Enabled"].text for row in table(browser, device).values()] == ["No", "No"]


def test_selected_ports_are_edited_and_the_way_leads_back(browser: Browser, plant: Plant, device: str) -> None:
    ports, path = plant.ends("dcim.interface", 2, device), f"/dcim/devices/{device}/interfaces/"
    bar = browser.get(path).html.select_one("#selection")
    action = next(button["formaction"] for button in bar.select("button") if "/edit/" in button["formaction"])
    form = browser.post(action, [("pk", port.id) for port in ports], status=200).form()
    form["description"] = "uplink"
    answer = form.submit("_step", status=200).form().submit("_step", value="apply", status=303)
    assert answer.headers["Location"] == path
    assert all(row["Description"].text == "uplink" for row in table(browser, device).values())


def test_columns_are_kept_from_a_tab(browser: Browser, plant: Plant, device: str) -> None:
    plant.end(device=device, name="eth0")
    path = f"/dcim/devices/{device}/interfaces/"
    form = browser.get(path).html.select_one("#columns")
    action = next(button["formaction"] for button in form.select("button[formaction]"))
    pairs = [("_back", path), ("_columns", "type")]
    try:
        assert browser.post(action, pairs).headers["Location"] == path
        assert list(table(browser, device)["eth0"]) == ["Type"]
    finally:
        browser.post(action, [("_back", path), ("_reset", "1")])


def test_the_number_of_statements_does_not_grow_with_the_ports(
    service: Service, browser: Browser, api: Api, plant: Plant
) -> None:
    def statements_for(count: int) -> int:
        device, other = plant.device(), plant.device()
        ports, peers = plant.ends("dcim.interface", count, device), plant.ends("dcim.interface", count, other)
        plant.cables(*zip(ports, peers, strict=True))
        path = f"/dcim/devices/{device}/interfaces/"
        browser.get(path)
        with service.statements() as statements:
            browser.get(path)
        return len(statements)

    few, many = statements_for(2), statements_for(40)
    assert few == many <= MAX_STATEMENTS


# -- what users may view


def test_what_the_user_may_not_view_is_not_in_the_table(
    service: Service, api: Api, plant: Plant, device: str, make_user: MakeUser
) -> None:
    port, other = plant.end(device=device, name="eth0"), plant.end(name="secret-port")
    seen, unseen = give_address(api, port, "10.77.0.1/24"), give_address(api, port, "10.77.0.2/24")
    vlan = api.post("/api/ipam/vlans/", {"vid": 66, "name": "secret-net", "status": "active", "site": plant.site})
    api.patch(port.path, {"mode": "access", "untagged_vlan": vlan["id"]})
    plant.cable(port, other, label="secret-label")
    rights = [
        ("view", "dcim.device"),
        ("view", "dcim.interface", {"device_id": device}),
        ("view", "ipam.ipaddress", {"id": seen["id"]}),
        ("view", "ipam.vlan", {"vid": 1}),
        ("view", "dcim.cable", {"label": "x"}),
    ]
    reader = Browser(service, make_user(*rights, password="a password"))
    path = f"/dcim/devices/{device}/interfaces/"
    page = reader.get(f"{path}?_columns=addresses,untagged_vlan,tagged_vlans,far_end,cable")
    shown = page.html.select_one("table.list tbody").text
    assert "10.77.0.1/24" in shown and "not visible to you" in shown
    assert not any(text in shown for text in (unseen["address"], "secret-net", "secret-port", "secret-label"))


def test_without_the_permission_there_is_no_column(
    service: Service, api: Api, plant: Plant, device: str, make_user: MakeUser
) -> None:
    give_address(api, plant.end(device=device, name="eth0"), "10.78.0.1/24")
    reader = make_user(("view", "dcim.device"), ("view", "dcim.interface"), password="a password")
    page = Browser(service, reader).get(f"/dcim/devices/{device}/interfaces/?_columns=addresses,cable,type")
    assert "10.78.0.1" not in page.text
    assert [cell.get_text(strip=True) for cell in page.html.select("thead th")] == ["Name", "Type"]


# -- actions on selected ports


def action(browser: Browser, path: str, name: str) -> str:
    """The address of an action on the selected rows of a page."""
    buttons = browser.get(path).html.select("#selection button")
    return next(button["formaction"] for button in buttons if f"/{name}/" in button["formaction"])


def test_selected_ports_are_disabled_and_enabled(browser: Browser, api: Api, plant: Plant, device: str) -> None:
    ports, path = plant.ends("dcim.interface", 2, device), f"/dcim/devices/{device}/interfaces/"
    for name, enabled in (("disable", False), ("enable", True)):
        answer = browser.post(action(browser, path, name), [("pk", port.id) for port in ports])
        assert answer.headers["Location"] == path
        assert [api.get(port.path)["enabled"] for port in ports] == [enabled, enabled]


def test_interfaces_of_virtual_machines_are_disabled(browser: Browser, api: Api, unique: Unique) -> None:
    kind = api.post("/api/virtualization/cluster-types/", {"name": unique(), "slug": unique()})["id"]
    cluster = api.post("/api/virtualization/clusters/", {"name": unique(), "type": kind})["id"]
    machine = {"name": unique(), "cluster": cluster, "status": "active"}
    machine = api.post("/api/virtualization/virtual-machines/", machine)["id"]
    port = {"virtual_machine": machine, "name": "eth0", "status": "active"}
    port = api.post("/api/virtualization/interfaces/", port)
    path = f"/virtualization/virtual-machines/{machine}/interfaces/"
    browser.post(action(browser, path, "disable"), {"pk": port["id"]})
    assert api.get(f"/api/virtualization/interfaces/{port['id']}/")["enabled"] is False


def test_selected_ports_are_disconnected_after_a_look_at_the_cables(
    browser: Browser, api: Api, plant: Plant, device: str
) -> None:
    port, free = plant.end(device=device, name="eth0"), plant.end(device=device, name="eth1")
    cable, path = plant.cable(port, plant.end(), label="C-77"), f"/dcim/devices/{device}/interfaces/"
    address = action(browser, path, "disconnect")
    preview = browser.post(address, [("pk", port.id), ("pk", free.id)], status=200)
    assert "C-77" in preview.words
    api.get(cable)
    assert preview.form().submit("_step", value="apply", status=303).headers["Location"] == path
    api.get(cable, status=404)
    assert browser.post(address, {"pk": free.id}).headers["Location"] == path


def test_users_who_may_not_change_ports_or_delete_cables_have_no_such_action(
    service: Service, plant: Plant, device: str, make_user: MakeUser
) -> None:
    port, path = plant.end(device=device, name="eth0"), f"/dcim/devices/{device}/interfaces/"
    rights = [("view", "dcim.device"), ("view", "dcim.interface")]
    reader = Browser(service, make_user(*rights, password="a password"))
    assert reader.get(path).html.select_one("#selection") is None
    for name in ("enable", "disconnect"):
        reader.post(f"/dcim/interfaces/{name}/", {"pk": port.id}, status=403)
    plant.cable(port, plant.end())
    editor = Browser(
        service, make_user(*rights, ("change", "dcim.interface"), ("view", "dcim.cable"), password="a password")
    )
    assert "disconnect" not in str(editor.get(path).html.select_one("#selection"))
    editor.post("/dcim/interfaces/disconnect/", {"pk": port.id}, status=403)


def test_the_form_for_a_port_says_that_a_pattern_makes_several(browser: Browser, device: str) -> None:
    page = browser.get(f"/dcim/devices/{device}/interfaces/").html
    add = next(link["href"] for link in page.select("a.button") if link.get_text(strip=True).startswith("Add"))
    assert "[0-47]" in browser.get(add).html.select_one("#help-name").text
    assert "[0-47]" not in browser.get("/dcim/sites/add/").text


def test_connect_is_a_button_on_the_page_of_a_free_port(browser: Browser, plant: Plant, device: str) -> None:
    port = plant.end(device=device, name="eth0")
    button = browser.get(f"/dcim/interfaces/{port.id}/").html.select_one("header .actions > a.primary")
    assert button.get_text(strip=True) == "Connect" and port.id in button["href"]


def test_all_ports_of_a_device_that_match_are_changed_at_once(
    browser: Browser, api: Api, plant: Plant, device: str
) -> None:
    """As in lists: those of further pages, of this device alone."""
    ports, other = plant.ends("dcim.interface", 27, device), plant.end()
    spared = plant.end(device=device, name="spared", mgmt_only=True)
    page = browser.get(f"/dcim/devices/{device}/interfaces/", {"per_page": "25", "mgmt_only": "false"})
    bar = page.html.select_one("#selection")
    assert "all 27 that match" in " ".join(bar.text.split())
    path = bar.select_one('button[formaction*="/disable/"]')["formaction"]
    done = browser.post(path, {"_all": "1"}, status=303)
    assert f"/dcim/devices/{device}/interfaces/" in done.headers["Location"]
    assert {api.get(end.path)["enabled"] for end in ports} == {False}
    assert api.get(spared.path)["enabled"] and api.get(other.path)["enabled"]
    path = bar.select_one('button[formaction*="/interfaces/edit/"]')["formaction"]
    assert "all 27 interfaces" in browser.post(path, {"_all": "1"}, status=200).words


# -- connecting selected ports


def connected(browser: Browser, device: str, ports: list[End]) -> BrowserPage:
    """The page that *Connect* leads to from selected ports of a device."""
    address = action(browser, f"/dcim/devices/{device}/interfaces/", "connect")
    return browser.post(address, [("pk", port.id) for port in ports]).follow()


def test_selected_ports_lead_to_the_workbench_with_the_free_ones(browser: Browser, plant: Plant, device: str) -> None:
    ports = plant.ends("dcim.interface", 5, device)
    plant.cable(ports[3], plant.end())
    page = connected(browser, device, ports[1:4])
    assert page.request.path == "/dcim/cabling/"
    names = [name.text for name in page.html.select(".port-name")]
    assert len(names) == 2 and "Only the selected ports are listed." in page.words
    other = plant.device()
    plant.ends("dcim.interface", 5, other)
    query = f"{page.request.path_qs}&right=dcim.device:{other}"
    paired = browser.get(f"{query}&_pairing=order", status=303).follow()
    assert len(paired.html.select(".planned li")) == 2
    assert len(browser.get(page.html.find("a", string="Show all ports")["href"]).html.select(".port-name")) == 5
    assert "is not the id of a port" in browser.get(f"/dcim/cabling/?left_only={'z' * 32}", status=400).text


def test_one_selected_port_leads_to_its_page_that_connects(browser: Browser, plant: Plant, device: str) -> None:
    ports = plant.ends("dcim.interface", 2, device)
    assert connected(browser, device, ports[:1]).request.path == "/dcim/cables/connect/"


def test_selected_ports_that_take_no_cable_are_refused(browser: Browser, plant: Plant, device: str) -> None:
    ports = [plant.end(device=device, name="eth0"), plant.end(device=device, name="lag0", type="lag")]
    plant.cable(ports[0], plant.end())
    assert "None of the selected ports is free for a cable." in connected(browser, device, ports).words
    address = action(browser, f"/dcim/devices/{device}/interfaces/", "connect")
    assert "No interfaces are selected." in browser.post(address, [], status=422).words


def test_more_ports_than_an_address_holds_are_refused(browser: Browser, plant: Plant, device: str) -> None:
    ports = plant.ends("dcim.interface", 65, device)
    assert "At most 64 ports of 12 devices are connected together." in connected(browser, device, ports).words

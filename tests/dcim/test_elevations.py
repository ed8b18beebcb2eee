"""Elevations: what a rack looks like from one side, unit by unit and as a drawing."""

from __future__ import annotations

import base64
from typing import Any
from xml.etree import ElementTree

import pytest

from netinv_dcim.rack_views.svg_text import fit_text, legible, luminance, readable_on, width_of
from netinv_testing import Api
from tests.support.images import png, send

pytestmark = pytest.mark.any_database  # drawings

RACKS = "/api/dcim/racks/"
DEVICES = "/api/dcim/devices/"
RESERVATIONS = "/api/dcim/rack-reservations/"
SVG = "{http://www.w3.org/2000/svg}"
CAP, RAIL, LEGEND, WIDTH, HEIGHT = 7, 9, 30, 230, 22


@pytest.fixture(autouse=True)
def folder(configured: Any, tmp_path: Any) -> Any:
    """Where images are kept."""
    with configured(media_root=str(tmp_path)):
        yield tmp_path


@pytest.fixture
def site(make: Any) -> str:
    return str(make("/api/dcim/sites/", status="active")["id"])


@pytest.fixture
def make_rack(make: Any, site: str) -> Any:
    """``make_rack(10, …)``: a rack of so many units."""
    return lambda height, **fields: make(RACKS, site=site, status="active", u_height=height, **fields)


@pytest.fixture
def make_type(make: Any, unique: Any) -> Any:
    """``make_type(2, …)``: a device type of so many units."""

    def post(height: int, **fields: Any) -> Any:
        return make(
            "/api/dcim/device-types/",
            model=unique(),
            manufacturer=make("/api/dcim/manufacturers/")["id"],
            u_height=height,
            **fields,
        )

    return post


@pytest.fixture
def mount(make: Any, make_type: Any, site: str) -> Any:
    """``mount(rack, 3, height=2, face="rear", deep=False, color="ff0000", …)``: a device with its lowest unit there."""

    def post(
        rack: Any,
        position: int | None,
        height: int = 1,
        *,
        face: str = "front",
        deep: bool = True,
        color: str = "9e9e9e",
        **fields: Any,
    ) -> Any:
        place = {"position": position, "face": face} if position is not None else {}
        made = {
            "device_type": fields.pop("device_type", None) or make_type(height, is_full_depth=deep)["id"],
            "site": site,
            "status": "active",
        }
        made["device_role"] = fields.pop("device_role", None) or make("/api/dcim/device-roles/", color=color)["id"]
        return make(DEVICES, rack=rack["id"], **made, **place, **fields)

    return post


def elevation(api: Api, rack: Any, **query: Any) -> Any:
    return api.get(f"{RACKS}{rack['id']}/elevation/", query)


class Drawing:
    """A drawing as it reads: what its boxes say, from which units they are made, where they lead."""

    def __init__(self, answer: Any) -> None:
        self.root = ElementTree.fromstring(answer.body)
        self.answer = answer

    def boxes(self) -> dict[str, Any]:
        """Every place for something that takes units, by the first line of its tooltip."""
        found = [
            holder
            for holder in self.root.iter()
            if holder.tag in (f"{SVG}a", f"{SVG}g") and holder.find(f"{SVG}svg") is not None
        ]
        return {self.lines(holder)[0]: holder for holder in found}

    def lines(self, holder: Any) -> list[str]:
        """The tooltip."""
        return str(holder.find(f"{SVG}title").text).split("\n")

    def rows(self, holder: Any) -> list[int]:
        """How many units are above the box, and how many it takes."""
        place = holder.find(f"{SVG}svg").attrib
        return [(int(place["y"]) - CAP) // HEIGHT, int(place["height"]) // HEIGHT]

    def kind(self, holder: Any) -> str:
        """What it is drawn as."""
        return str(holder.find(f"{SVG}svg/{SVG}rect").attrib["class"])

    def texts(self, holder: Any) -> list[str]:
        """What is written in the box."""
        return [text.text for text in holder.iter(f"{SVG}text")]

    def free(self) -> list[str]:
        """The tooltips of units that nothing takes."""
        return [self.lines(rect)[0] for rect in self.root.iter(f"{SVG}rect") if rect.attrib.get("class") == "free"]


@pytest.fixture
def draw(api: Api) -> Any:
    """``draw(rack, face="rear", …)``: the drawing."""

    def get(rack: Any, client: Api = api, **query: Any) -> Drawing:
        return Drawing(
            client.send("GET", f"{RACKS}{rack['id']}/elevation/", query={"render": "svg", **query}, status=200)
        )

    return get


# -- units


def test_units_are_listed_from_the_top_with_what_is_in_them(api: Api, make_rack: Any, mount: Any) -> None:
    rack = make_rack(5)
    low, half = mount(rack, 1, 2), mount(rack, 4, deep=False)
    mount(rack, None)
    front, rear = elevation(api, rack), elevation(api, rack, face="rear")
    assert [unit["name"] for unit in front["results"]] == ["U5", "U4", "U3", "U2", "U1"]
    assert [unit["device"] and unit["device"]["id"] for unit in front["results"]] == [
        None,
        half["id"],
        None,
        low["id"],
        low["id"],
    ]
    assert [unit["occupied"] for unit in rear["results"]] == [False, False, False, True, True]
    assert rear["results"][0]["face"] == {"value": "rear", "label": "Rear"}
    assert [unit["id"] for unit in elevation(api, rack, expand_devices="false")["results"]] == [5, 4, 3, 1]
    assert [unit["occupied"] for unit in elevation(api, rack, exclude=low["id"])["results"]] == [
        False,
        True,
        False,
        False,
        False,
    ]
    assert [unit["id"] for unit in elevation(api, make_rack(3, desc_units=True))["results"]] == [1, 2, 3]
    assert elevation(api, rack, q="u4")["count"] == 1
    assert elevation(api, rack, limit=2)["next"].endswith("limit=2&offset=2")


def test_parameters_are_checked(api: Api, make_rack: Any) -> None:
    rack = make_rack(2)
    path = f"{RACKS}{rack['id']}/elevation/"
    wrong = {
        "face": "zz",
        "render": "png",
        "unit_height": "abc",
        "unit_width": 2001,
        "legend_width": -1,
        "exclude": "zz",
        "expand_devices": "perhaps",
    }
    assert api.get(path, wrong, status=400) == {
        "face": ['"zz" is not a valid choice.'],
        "render": ['"png" is not a valid choice.'],
        "unit_height": ["A valid integer is required."],
        "unit_width": ["Ensure this value is less than or equal to 2000."],
        "legend_width": ["Ensure this value is greater than or equal to 0."],
        "exclude": ["Must be a valid UUID."],
        "expand_devices": ["Must be a valid boolean."],
    }
    for name, value in (
        ("unit_height", 7),
        ("unit_height", 201),
        ("unit_width", 59),
        ("legend_width", 201),
        ("unit_width", "9" * 5000),
    ):
        assert set(api.get(path, {"render": "svg", name: value}, status=400)) == {name}
    api.get(f"{RACKS}00000000-0000-4000-8000-000000000000/elevation/", {"render": "svg"}, status=404)
    api.get(f"{RACKS}zz/elevation/", {"render": "svg"}, status=404)


# -- the drawing


def test_a_drawing_stands_alone_and_runs_nothing(draw: Any, make_rack: Any) -> None:
    drawing = draw(make_rack(4))
    headers = drawing.answer.headers
    assert headers["Content-Type"] == "image/svg+xml" and headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert headers["API-Version"] == "1.6"
    width, height = LEGEND + 2 * RAIL + WIDTH, 4 * HEIGHT + 2 * CAP
    assert [drawing.root.attrib[name] for name in ("width", "height", "viewBox")] == [
        str(width),
        str(height),
        f"0 0 {width} {height}",
    ]
    assert {element.tag.removeprefix(SVG) for element in drawing.root.iter()} <= {
        "svg",
        "title",
        "style",
        "defs",
        "pattern",
        "rect",
        "circle",
        "g",
        "text",
    }
    other = draw(make_rack(4), unit_width=100, unit_height=10, legend_width=0)
    assert [other.root.attrib[name] for name in ("width", "height")] == [str(100 + 2 * RAIL), str(40 + 2 * CAP)]
    assert [text.text for text in other.root.iter(f"{SVG}text")] == []


def test_the_parameter_decides_whatever_is_accepted(api: Api, make_rack: Any) -> None:
    path = f"{RACKS}{make_rack(1)['id']}/elevation/"
    for accepted in ("image/svg+xml", "text/html", "image/avif,image/webp,*/*;q=0.8", "application/json; version=1.3"):
        answer = api.send("GET", path, query={"render": "svg"}, headers={"Accept": accepted}, status=200)
        assert answer.content_type == "image/svg+xml"
    assert answer.headers["API-Version"] == "1.3"
    api.send("GET", path, headers={"Accept": "image/svg+xml"}, status=406)
    api.send("GET", path, query={"render": "svg"}, headers={"Accept": "image/png"}, status=406)


def test_units_are_numbered_from_the_bottom_or_from_the_top(draw: Any, make_rack: Any, mount: Any) -> None:
    for rack, numbers, row in ((make_rack(4), "1234", 1), (make_rack(4, desc_units=True), "4321", 1)):
        device = mount(rack, 2, 2)
        drawing = draw(rack)
        shown = sorted(
            ((float(text.attrib["y"]), text.text) for text in drawing.root.iter(f"{SVG}text") if text.text.isdigit()),
            reverse=True,
        )
        assert [number for _, number in shown] == list(numbers)
        assert drawing.rows(drawing.boxes()[device["name"]]) == [row, 2]
        assert sorted(drawing.free()) == ["U1: free", "U4: free"]


def test_a_device_is_a_box_in_its_roles_color_that_says_what_it_is(
    draw: Any, make: Any, make_rack: Any, mount: Any
) -> None:
    rack, role = make_rack(4), make("/api/dcim/device-roles/", color="ffeb3b")
    device = mount(rack, 1, 2, device_role=role["id"], serial="S-1", asset_tag=f"A-{rack['name']}")
    drawing = draw(rack)
    box = drawing.boxes()[device["name"]]
    kind = f"{device['device_type']['manufacturer']['name']} {device['device_type']['model']}"
    assert drawing.lines(box) == [
        device["name"],
        f"Role: {role['name']}",
        f"Type: {kind} (2U)",
        "Serial number: S-1",
        f"Asset tag: A-{rack['name']}",
    ]
    assert box.tag == f"{SVG}a" and box.attrib["href"] == device["url"]
    assert drawing.kind(box) == "device" and box.find(f"{SVG}svg/{SVG}rect").attrib["fill"] == "#ffeb3b"
    assert drawing.texts(box) == [device["name"], kind]
    assert {text.attrib["fill"] for text in box.iter(f"{SVG}text")} == {"#000000"}


def test_what_users_wrote_is_text_and_never_markup(
    draw: Any, api: Api, service: Any, make_rack: Any, mount: Any, unique: Any
) -> None:
    evil = f"""</title><script>alert("1")</script> & ' {unique()}"""
    rack = make_rack(4, facility_id="<b>")
    device = mount(rack, 1, name=evil[:64], serial=evil)
    mount(rack, 2, name=f"bell\x07 \x1b[31m\uffff {unique()}")
    api.post(RESERVATIONS, {"rack": rack["id"], "user": service.admin.id, "units": [4], "description": evil})
    drawing = draw(rack)
    assert f"Reserved: {evil}" in drawing.boxes()
    assert "".join(drawing.texts(drawing.boxes()[device["name"]])).startswith("</title><s")
    assert f"Serial number: {evil}" in drawing.lines(drawing.boxes()[device["name"]])
    assert any(name.startswith("bell\ufffd \ufffd[31m\ufffd ") for name in drawing.boxes())
    assert "script" not in {element.tag.removeprefix(SVG) for element in drawing.root.iter()}
    assert not any(name.startswith("on") for element in drawing.root.iter() for name in element.attrib)


def test_the_other_face_shows_through_only_what_is_full_depth(draw: Any, make_rack: Any, mount: Any) -> None:
    rack = make_rack(6)
    deep, half = mount(rack, 1, 2), mount(rack, 4, deep=False)
    behind, rear = mount(rack, 5, face="rear"), mount(rack, 6, face="rear", deep=False)
    front, back = draw(rack), draw(rack, face="rear")
    assert {name: front.kind(box) for name, box in front.boxes().items()} == {
        deep["name"]: "device",
        half["name"]: "device",
        behind["name"]: "behind",
    }
    assert {name: back.kind(box) for name, box in back.boxes().items()} == {
        deep["name"]: "behind",
        behind["name"]: "device",
        rear["name"]: "device",
    }
    seen = back.boxes()[deep["name"]]
    assert back.lines(seen)[-1] == "Mounted on the other face" and seen.attrib["href"] == deep["url"]
    assert front.free() == ["U3: free", "U6: free"] and back.free() == ["U3: free", "U4: free"]
    assert list(draw(rack, exclude=deep["id"]).boxes()) == [half["name"], behind["name"]]


def test_reserved_units_say_for_whom_they_are_kept(
    draw: Any, api: Api, service: Any, make: Any, make_rack: Any, mount: Any
) -> None:
    rack, tenant = make_rack(8), make("/api/tenancy/tenants/")
    body = {"rack": rack["id"], "user": service.admin.id}
    api.post(RESERVATIONS, {**body, "units": [7, 2, 3, 5], "description": "for <them>", "tenant": tenant["id"]})
    mount(rack, 5)
    drawing = draw(rack)
    boxes = [box for box in drawing.root.iter(f"{SVG}g") if box.find(f"{SVG}svg") is not None]
    assert [(drawing.kind(box), drawing.rows(box)) for box in boxes] == [("reserved", [5, 2]), ("reserved", [1, 1])]
    told = ["Reserved: for <them>", f"User: {service.admin.username}", f"Tenant: {tenant['name']}"]
    assert [drawing.lines(box) for box in boxes] == [told, told] and drawing.texts(boxes[0]) == ["for <them>"]
    (edge,) = [rect for rect in drawing.root.iter(f"{SVG}rect") if rect.attrib.get("class") == "reserved-edge"]
    assert drawing.lines(edge) == told and int(edge.attrib["y"]) == CAP + 3 * HEIGHT
    assert sorted(drawing.free()) == ["U1: free", "U4: free", "U6: free", "U8: free"]


def test_what_may_not_be_viewed_takes_its_units_without_a_name(
    draw: Any, api: Api, service: Any, make_user: Any, make_rack: Any, mount: Any
) -> None:
    rack = make_rack(6)
    seen, hidden, behind = mount(rack, 1), mount(rack, 2, 2), mount(rack, 4, face="rear")
    api.post(RESERVATIONS, {"rack": rack["id"], "user": service.admin.id, "units": [6], "description": "secret"})
    user = make_user(("view", "dcim.rack"), ("view", "dcim.device", {"name": seen["name"]}))
    for query in ({}, {"face": "rear"}):
        drawing = draw(rack, user.api, **query)
        assert drawing.free() == ["U5: free"]
        holders = [box for box in drawing.root.iter() if box.find(f"{SVG}svg") is not None]
        kinds = sorted(drawing.kind(box) for box in holders)
        assert kinds == (
            ["behind", "device", "hidden", "reserved"] if not query else ["behind", "behind", "hidden", "reserved"]
        )
        for secret in (
            hidden["name"],
            behind["name"],
            hidden["id"],
            hidden["device_role"]["name"],
            hidden["device_type"]["model"],
            "secret",
        ):
            assert secret not in drawing.answer.text
        assert seen["name"] in drawing.answer.text
    none = draw(rack, make_user(("view", "dcim.rack")).api)
    assert seen["name"] not in none.answer.text and [
        none.lines(box)[0] for box in none.root.iter(f"{SVG}g") if box.find(f"{SVG}svg") is not None
    ]
    named = elevation(user.api, rack)["results"]
    assert [(unit["occupied"], unit["device"] and unit["device"]["id"]) for unit in named][-3:] == [
        (True, None),
        (True, None),
        (True, seen["id"]),
    ]
    make_user(("view", "dcim.device")).api.get(f"{RACKS}{rack['id']}/elevation/", {"render": "svg"}, status=403)
    make_user(("view", "dcim.rack", {"name": "other"})).api.get(
        f"{RACKS}{rack['id']}/elevation/", {"render": "svg"}, status=404
    )


def test_images_of_the_face_that_is_seen_are_part_of_the_drawing(
    draw: Any, api: Api, make_user: Any, make_rack: Any, make_type: Any, mount: Any
) -> None:
    rack, kind = make_rack(6), make_type(2)
    send(
        api,
        "PATCH",
        f"/api/dcim/device-types/{kind['id']}/",
        {"front_image": ("f.png", png(10, 2)), "rear_image": ("r.png", png(11, 2))},
        status=200,
    )
    devices = [
        mount(rack, 1, device_type=kind["id"]),
        mount(rack, 3, device_type=kind["id"]),
        mount(rack, 5, device_type=kind["id"], face="rear"),
    ]
    drawing = draw(rack)
    images = {image.attrib["id"]: image.attrib for image in drawing.root.iter(f"{SVG}image")}
    held = {f"data:image/png;base64,{base64.b64encode(content).decode()}" for content in (png(10, 2), png(11, 2))}
    assert {image["href"] for image in images.values()} == held and len(images) == 2
    used = [drawing.boxes()[device["name"]].find(f"{SVG}svg/{SVG}use").attrib["href"] for device in devices]
    assert used[0] == used[1] != used[2] and {name.removeprefix("#") for name in used} == set(images)
    assert all(drawing.texts(drawing.boxes()[device["name"]]) == [device["name"]] for device in devices)
    assert list(draw(rack, include_images="false").root.iter(f"{SVG}image")) == []
    limited = make_user(("view", ["dcim.rack", "dcim.device"]))
    assert list(draw(rack, limited.api).root.iter(f"{SVG}image")) == []


def test_a_picture_that_is_gone_or_too_much_leaves_the_color(
    draw: Any, api: Api, make_rack: Any, make_type: Any, mount: Any, folder: Any, monkeypatch: Any
) -> None:
    rack, kind = make_rack(2), make_type(1)
    send(api, "PATCH", f"/api/dcim/device-types/{kind['id']}/", {"front_image": ("f.png", png())}, status=200)
    device = mount(rack, 1, device_type=kind["id"])
    with monkeypatch.context() as patched:
        patched.setattr("netinv_dcim.rack_views.drawing_data.MAX_PICTURES", len(png()) - 1)
        assert list(draw(rack).root.iter(f"{SVG}image")) == []
    assert len(list(draw(rack).root.iter(f"{SVG}image"))) == 1
    next(path for path in folder.rglob("*.png")).unlink()
    drawing = draw(rack)
    assert drawing.kind(drawing.boxes()[device["name"]]) == "device" and list(drawing.root.iter(f"{SVG}use")) == []


@pytest.mark.parametrize(("height", "unit_height", "unit_width"), [(1, 8, 60), (42, 22, 230), (100, 200, 2000)])
def test_racks_of_any_size_are_drawn(
    draw: Any, make_rack: Any, mount: Any, height: int, unit_height: int, unit_width: int
) -> None:
    rack = make_rack(height)
    mount(rack, 1, name=f"名前 {rack['name']} with a name as long as names may be"[:64])
    mount(rack, None, height=0)
    drawing = draw(rack, unit_height=unit_height, unit_width=unit_width)
    assert int(drawing.root.attrib["height"]) == height * unit_height + 2 * CAP and len(drawing.boxes()) == 1
    assert len(drawing.free()) == height - 1


def test_a_drawing_takes_as_many_statements_whatever_is_in_the_rack(
    draw: Any, api: Api, service: Any, make_rack: Any, mount: Any, statements: Any
) -> None:
    rack = make_rack(42)
    counts = []
    for start in (1, 2, 12):
        for position in range(start, start * 2):
            mount(rack, position)
            api.post(
                RESERVATIONS,
                {"rack": rack["id"], "user": service.admin.id, "units": [position + 18], "description": "x"},
            )
        with statements() as found:
            draw(rack)
        counts.append(len(found))
    assert counts == [5, 5, 5], "\n".join(found)


# -- letters


def test_text_is_black_or_white_by_contrast() -> None:
    assert {color for color in ("ffffff", "ffeb3b", "2196f3", "767676") if readable_on(color) == "000000"} == {
        "ffffff",
        "ffeb3b",
        "2196f3",
        "767676",
    }
    assert {color for color in ("000000", "3f51b5", "757575") if readable_on(color) == "ffffff"} == {
        "000000",
        "3f51b5",
        "757575",
    }
    assert (luminance("000000"), round(luminance("ffffff"), 6)) == (0, 1)
    for red in range(0, 256, 15):
        for blue in range(0, 256, 15):
            color = f"{red:02x}80{blue:02x}"
            light, ink = luminance(color), luminance(readable_on(color))
            assert (max(light, ink) + 0.05) / (min(light, ink) + 0.05) >= 4.5


def test_names_are_cut_in_the_middle() -> None:
    assert fit_text("leaf-01", 10, 100) == "leaf-01"
    cut = fit_text("amsterdam-rack-12-leaf-switch-01", 10, 100)
    assert cut.startswith("amster") and cut.endswith("-01") and "…" in cut and width_of(cut, 10) <= 100
    assert fit_text("leaf", 10, 3) == "" and fit_text("", 10, 3) == ""
    assert width_of("漢字", 10) > width_of("ab", 10) and width_of("é", 10) == width_of("e\u0301", 10)
    assert legible("a\x00b\x1b\ufffe\ud800\tc") == "a\ufffdb\ufffd\ufffd\ufffd\tc"

"""Importing device types from files in the YAML layout of the community's library, with the command that does it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.changelog.models import ObjectChange
from netinv_core.environment import Environment
from netinv_dcim.device_type_library import yaml_reader
from netinv_dcim.device_type_library.importer import CHUNK
from netinv_testing import Api, Service
from tests.support.device_type_files import (
    MAKERS,
    TYPES,
    Library,
    counts,
    environment,
    found,
    library,
    run,
    templates,
)
from tests.support.images import png

pytestmark = pytest.mark.any_database  # files and their documents

FIXTURES = (environment, found, library, run)
MORE = """
console-ports:
  - {name: con0, type: rj-45, label: CON}
console-server-ports:
  - {name: tty1, type: de-9}
power-outlets:
  - {name: out1, type: iec-60320-c13, power_port: psu1, feed_leg: A}
power-ports:
  - {name: psu1, type: iec-60320-c14, maximum_draw: 500, allocated_draw: 300}
interfaces:
  - name: 1.10
    type: 1000base-t
  - {name: mgmt0, type: 1000base-t, mgmt_only: true}
front-ports:
  - {name: front1, type: lc, rear_port: rear1, rear_port_position: 2}
rear-ports:
  - {name: rear1, type: lc, positions: 2}
device-bays:
  - {name: bay1, label: B1}
"""


@pytest.mark.night
def test_a_type_has_what_its_file_says(library: Library, run: Any, api: Api, found: Any) -> None:
    more = {
        "part_number": "0123",
        "u_height": "2.0",
        "is_full_depth": "no",
        "subdevice_role": "parent",
        "comments": "|\n  Two\n  lines",
    }
    library.add("switch", MORE, **more)
    run()
    shown = found("switch")
    told = {name: shown[name] for name in ("part_number", "u_height", "is_full_depth", "comments")}
    assert told == {"part_number": "0123", "u_height": 2, "is_full_depth": False, "comments": "Two\nlines"}
    assert shown["subdevice_role"]["value"] == "parent" and shown["slug"].endswith("-switch")
    (console,), (power,), (bay,) = (
        templates(api, kind, shown) for kind in ("console-port", "power-port", "device-bay")
    )
    assert (console["name"], console["label"], console["type"]["value"]) == ("con0", "CON", "rj-45")
    assert (power["maximum_draw"], power["allocated_draw"], bay["label"]) == (500, 300, "B1")
    assert [(port["name"], port["mgmt_only"]) for port in templates(api, "interface", shown)] == [
        ("1.10", False),
        ("mgmt0", True),
    ]
    (outlet,), (front,), (rear,) = (templates(api, kind, shown) for kind in ("power-outlet", "front-port", "rear-port"))
    assert (outlet["power_port"]["id"], outlet["feed_leg"]["value"]) == (power["id"], "A")
    assert (front["rear_port"]["id"], front["rear_port_position"], rear["positions"]) == (rear["id"], 2, 2)
    assert len(templates(api, "console-server-port", shown)) == 1


def test_a_second_run_changes_nothing_and_a_changed_file_updates_what_changed(
    library: Library, run: Any, api: Api, service: Service, found: Any
) -> None:
    library.add("switch", MORE, subdevice_role="parent", comments="|\n  text")
    library.add("other", u_height=2)
    assert counts(run(), "all") == {"created": 12, "objects": 12}
    before = found("switch"), templates(api, "interface", found("switch"))
    changes = sa.select(sa.func.count()).select_from(ObjectChange)
    recorded = service.rows(changes)
    assert counts(run(), "all") == {"unchanged": 12, "objects": 12}
    assert (found("switch"), templates(api, "interface", found("switch"))) == before
    assert service.rows(changes) == recorded
    library.add(
        "switch",
        MORE.replace("label: CON", "label: Console").replace("con0, type: rj-45", "con0, type: usb-c"),
        subdevice_role="parent",
        u_height=3,
    )
    assert counts(run(), "all") == {"updated": 2, "unchanged": 10, "objects": 12}
    (console,) = templates(api, "console-port", found("switch"))
    assert (console["label"], console["type"]["value"], found("switch")["u_height"]) == ("Console", "usb-c", 3)


def test_what_is_here_and_not_in_the_file_stays_and_is_listed(library: Library, run: Any, api: Api, found: Any) -> None:
    path = library.add("switch", MORE, subdevice_role="parent", comments="text")
    run()
    (console,) = templates(api, "console-port", found("switch"))
    api.patch(console["url"], {"description": "by hand"})
    library.add("switch", MORE.replace("name: tty1", "name: tty2").replace(", label: CON", ""), subdevice_role="parent")
    output = run()
    assert (
        f"beyond    dcim.consoleserverporttemplate {path.relative_to(library.root)}: tty1: it is here and not in the file"
        in output
    )
    assert [port["name"] for port in templates(api, "console-server-port", found("switch"))] == ["tty1", "tty2"]
    (console,) = templates(api, "console-port", found("switch"))
    assert (console["description"], console["label"], found("switch")["comments"]) == ("by hand", "CON", "text")


def test_an_exact_import_leaves_what_the_file_says_and_nothing_else(
    library: Library, run: Any, api: Api, found: Any
) -> None:
    """Values that it does not say are the defaults, templates that it does not have are deleted; devices keep theirs."""
    library.add("switch", MORE, subdevice_role="parent")
    library.add("other", MORE, subdevice_role="parent")
    run()
    (console,) = templates(api, "console-port", found("switch"))
    api.patch(console["url"], {"description": "by hand"})
    other = templates(api, "console-port", found("other"))
    newer = MORE.partition("front-ports:")[0].replace(", label: CON", "").replace(", mgmt_only: true", "")
    newer = newer.replace(", power_port: psu1, feed_leg: A", "").replace(", maximum_draw: 500, allocated_draw: 300", "")
    library.add("switch", newer.replace("tty1", "tty2"), subdevice_role="parent")
    output = run(None, "--exact")
    told = counts(output, "all")
    assert (told["created"], told["updated"], told["deleted"]) == (1, 4, 4), output
    (console,), (outlet,), (power,) = (
        templates(api, kind, found("switch")) for kind in ("console-port", "power-outlet", "power-port")
    )
    assert (console["label"], console["description"], console["type"]["value"]) == ("", "", "rj-45")
    assert (outlet["power_port"], outlet["feed_leg"], power["maximum_draw"]) == (None, None, None)
    assert not any(port["mgmt_only"] for port in templates(api, "interface", found("switch")))
    left = ["front-port", "rear-port", "device-bay"]
    assert [templates(api, kind, found("switch")) for kind in left] == [[], [], []]
    assert [port["name"] for port in templates(api, "console-server-port", found("switch"))] == ["tty2"]
    assert templates(api, "console-port", found("other")) == other
    assert counts(run(None, "--exact"), "all").keys() == {"unchanged", "objects"}


def test_types_and_templates_are_recognised_by_their_names(library: Library, run: Any, api: Api, found: Any) -> None:
    maker = api.post(MAKERS, {"name": library.maker, "slug": f"{library.maker.lower().replace(' ', '-')}-inc"})
    made = api.post(TYPES, {"manufacturer": maker["id"], "model": "switch", "slug": "mine"})
    port = api.post(
        "/api/dcim/interface-templates/",
        {"device_type": made["id"], "name": "mgmt0", "type": "virtual", "label": "mine"},
    )
    library.add("switch", "interfaces:\n  - {name: mgmt0, type: 1000base-t}")
    output = run()
    assert counts(output, "dcim.manufacturer") == {"unchanged": 1, "objects": 1}
    assert counts(output, "dcim.devicetype") == {"updated": 1, "objects": 1}
    assert found("switch")["id"] == made["id"]
    shown = api.get(port["url"])
    assert (shown["type"]["value"], shown["label"]) == ("1000base-t", "mine")


def test_manufacturers_are_recognised_by_slug_too_and_keep_their_names(library: Library, run: Any, api: Api) -> None:
    slug = library.maker.lower().replace(" ", "-")
    maker = api.post(MAKERS, {"name": f"{library.maker} International", "slug": slug, "description": "by hand"})
    library.add("one")
    library.add("two", manufacturer=library.maker.upper())
    output = run()
    assert counts(output, "dcim.manufacturer") == {"unchanged": 1, "objects": 1}
    assert counts(output, "dcim.devicetype") == {"created": 2, "objects": 2}
    shown = api.get(maker["url"])
    assert (shown["name"], shown["devicetype_count"]) == (f"{library.maker} International", 2)


def test_manufacturers_without_a_latin_letter_are_told_apart(library: Library, run: Any, api: Api, unique: Any) -> None:
    names = ["".join(chr(0x4E00 + ord(letter)) for letter in unique()) for _ in range(2)]
    for name in names:
        library.write(f"device-types/{name}/x.yaml", f"manufacturer: {name}\nmodel: 型\n".encode())
    assert counts(run(), "dcim.manufacturer") == {"created": 2, "objects": 2}
    assert counts(run(), "all") == {"unchanged": 4, "objects": 4}
    assert [api.get(MAKERS, {"name": name})["count"] for name in names] == [1, 1]


def test_one_manufacturer_is_made_for_all_that_name_it(library: Library, run: Any, api: Api) -> None:
    for number in range(CHUNK + 5):
        library.add(f"m{number:03}", manufacturer=library.maker if number % 2 else library.maker.lower())
    output = run()
    assert counts(output, "dcim.manufacturer") == {"created": 1, "objects": 1}
    assert counts(output, "dcim.devicetype") == {"created": CHUNK + 5, "objects": CHUNK + 5}


def test_a_picture_that_is_stated_and_missing_is_counted(library: Library, run: Any) -> None:
    library.add("two", "inventory-items: []", front_image="true", rear_image="false")
    output = run()
    assert "left out  dcim.devicetype: front_image of 1 values, the library has no such file" in output
    assert "inventory-items" not in output and "rear_image" not in output


def test_a_component_that_is_wrong_is_refused_and_the_rest_imported(
    library: Library, run: Any, api: Api, found: Any
) -> None:
    path = library.add(
        "switch",
        """
interfaces:
  - {name: good, type: 1000base-t}
  - {name: newer, type: 1000base-t, mgmt_only: perhaps}
  - {type: 1000base-t}
  - nothing
  - {name: good, type: virtual}
power-ports:
  - {name: psu, type: iec-60320-c14, maximum_draw: 1.5}
power-outlets:
  - {name: out1, power_port: psu9}
  - {name: out2, power_port: psu}
rear-ports:
  - {name: rear, type: lc, positions: 2}
front-ports:
  - {name: front1, type: lc, rear_port: rear, rear_port_position: 3}
  - {name: front2, type: lc, rear_port: rear, rear_port_position: 1}
  - {name: front3, type: [lc], rear_port: rear}
device-bays:
  - {name: bay}
""",
    )
    output = run(status=1)
    name = path.relative_to(library.root)
    for line in (
        f"dcim.interfacetemplate {name}: newer: line 8: mgmt_only is perhaps: Must be a valid boolean.",
        f"dcim.interfacetemplate {name}: interfaces 3, line 9: a mapping with a name is expected",
        f"dcim.interfacetemplate {name}: interfaces 4: a mapping with a name is expected",
        f"dcim.interfacetemplate {name}: interfaces 5, line 11: good is there twice",
        f"dcim.powerporttemplate {name}: psu: line 13: maximum_draw is 1.5: A valid integer is required.",
        f"dcim.poweroutlettemplate {name}: out1: line 15: power_port: psu9 is not in the file",
        f"dcim.poweroutlettemplate {name}: out2: line 16: power_port: psu was refused",
        f"dcim.frontporttemplate {name}: front1: line 20: Invalid rear port position (3); rear port rear has only 2 positions",
        f"dcim.frontporttemplate {name}: front3: line 22: type: a single value is expected",
        f'dcim.devicebaytemplate {name}: bay: line 24: Subdevice role of device type (switch) must be set to "parent" to allow device bays.',
    ):
        assert f"refused   {line}\n" in output
    assert counts(output, "all") == {"created": 5, "refused": 10, "objects": 15}
    assert [port["name"] for port in templates(api, "interface", found("switch"))] == ["good"]
    assert [port["name"] for port in templates(api, "front-port", found("switch"))] == ["front2"]
    assert "refused   dcim.interfacetemplate: 3 more; --limit 0 lists all" in run(None, "--limit", "1", status=1)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"manufacturer: A\nmodel: b: c\n", "line 2, column 9: mapping values are not allowed"),
        (b"- manufacturer: A\n", "a mapping is expected"),
        (b"", "a mapping is expected"),
        (b"text", "a mapping is expected"),
        (b"model: m\n", "manufacturer: This field is required."),
        (b"manufacturer: A\nmodel:\n", "line 2: model: This field is required."),
        (b"manufacturer: [A]\nmodel: m\n", "line 1: manufacturer: a name is expected"),
        (b"manufacturer: A\nmodel: m\nu_height: 1u\n", "line 3: u_height is 1u: A valid integer is required."),
        (b"manufacturer: A\nmodel: m\nsubdevice_role: aunt\n", "line 3: subdevice_role: aunt is not a valid choice."),
        (b"manufacturer: A\nmodel: m\ninterfaces: {a: 1}\n", "line 3: interfaces: a list is expected"),
        (b"manufacturer: A\nmodel: m\nmodel: n\n", "line 3: model is there twice"),
        (b"manufacturer: A\nmodel: \xff\n", "it is not UTF-8: byte 24"),
        (b"manufacturer: A\nmodel: \x07\n", "line 2: control characters are not allowed"),
        (
            b"manufacturer: A\nmodel: !!python/object/apply:os.getcwd []\n",
            "line 2: the tag tag:yaml.org,2002:python/object/apply:os.getcwd is not allowed",
        ),
        (b"manufacturer: A\nmodel: *m\n", "line 2: nothing is called m"),
        (b'manufacturer: A\nmodel: "m\\0"\n', "line 2: the null character is not allowed"),
        (b"manufacturer: A\n? [m]\n: n\n", "line 2: a key is text"),
        (b"manufacturer: A\n---\nmodel: m\n", "line 2: a second document begins"),
        (b"manufacturer: A\nmodel: " + b"[" * 5000, "line 2: it nests too deep"),
        (b"manufacturer: A\nmodel: m\nx:\n  " + b"- " * 200000, "line 4: it nests too deep"),
        (b"#" * (yaml_reader.SIZE + 1), f"it is larger than {yaml_reader.SIZE} bytes"),
    ],
)
def test_a_file_that_is_no_device_type_is_refused_and_the_others_imported(
    library: Library, run: Any, content: bytes, reason: str
) -> None:
    library.write("device-types/A/bad.yaml", content)
    library.add("good")
    output = run(status=1)
    assert f"refused   dcim.devicetype device-types/A/bad.yaml: {reason}" in output
    assert counts(output, "dcim.devicetype") == {"created": 1, "refused": 1, "objects": 2}


def test_links_and_what_is_no_file_are_reported(library: Library, run: Any) -> None:
    folder = library.add("good").parent
    (folder / "linked.yaml").symlink_to(library.write("elsewhere.yaml", b"manufacturer: Linked\nmodel: linked\n"))
    (folder / "self.yaml").symlink_to("self.yaml")
    (folder / "gone.yaml").symlink_to("nowhere.yaml")
    (folder / "up").symlink_to("..")
    os.mkfifo(folder / "pipe.yaml")
    output, name = run(status=1), folder.relative_to(library.root)
    assert "skipped   1 objects of dcim.devicetype: a link to a folder is not followed" in output
    assert f"refused   dcim.devicetype {name}/self.yaml: it cannot be read: Too many levels of symbolic links" in output
    assert f"refused   dcim.devicetype {name}/gone.yaml: it cannot be read: No such file or directory" in output
    assert f"refused   dcim.devicetype {name}/pipe.yaml: it is no file" in output
    assert counts(output, "dcim.devicetype") == {"created": 2, "skipped": 1, "refused": 3, "objects": 6}


def test_types_that_the_rules_refuse_take_their_components_along(library: Library, run: Any) -> None:
    library.add(
        "one",
        "interfaces:\n  - {name: e1, type: virtual}\n  - {name: e2, type: virtual}",
        u_height=1,
        subdevice_role="child",
    )
    library.add("two", slug="same")
    library.add("three", slug="same")
    output = run(status=1)
    assert "skipped   2 objects of dcim.interfacetemplate: the device type they belong to was refused" in output
    assert (
        f"refused   dcim.devicetype device-types/{library.maker}/one.yaml: line 5: u_height: Child device types must be 0U."
        in output
    )
    assert "/two.yaml: The fields manufacturer, slug must make a unique set." in output
    assert counts(output, "dcim.devicetype") == {"created": 1, "refused": 2, "objects": 3}


def test_a_type_is_described_by_one_file(library: Library, run: Any) -> None:
    first = library.write(
        "device-types/A/first.yaml", f"manufacturer: {library.maker}\nmodel: m\n".encode()
    ).relative_to(library.root)
    second = library.write(
        "device-types/A/second.yaml", f"manufacturer: {library.maker.upper()}\nmodel: m\n".encode()
    ).relative_to(library.root)
    assert f"refused   dcim.devicetype {second}: {first} describes the same type" in run(status=1)


def test_a_folder_or_a_file_of_the_library_can_be_imported_alone(library: Library, run: Any, api: Api) -> None:
    path = library.add("one")
    library.add("two")
    library.write("device-types/Other/x.yaml", b"manufacturer: Other\nmodel: other\n")
    library.write("module-types/Other/x.yaml", b"manufacturer: Other\nmodel: module\n")
    assert counts(run(path), "dcim.devicetype") == {"created": 1, "objects": 1}
    assert counts(run(path.parent), "dcim.devicetype") == {"created": 1, "unchanged": 1, "objects": 2}
    assert counts(run(), "dcim.devicetype") == {"created": 1, "unchanged": 2, "objects": 3}
    assert api.get(TYPES, {"model": "module"})["count"] == 0


def test_a_folder_without_device_types_is_no_library(library: Library, run: Any) -> None:
    library.write("device-types/A/readme.md", b"no")
    assert f"Error: {library.root} holds no device types" in run(status=1)


def test_a_dry_run_says_what_would_happen_and_changes_nothing(library: Library, run: Any, api: Api) -> None:
    library.add("switch")
    output = run(None, "--dry-run")
    assert (
        counts(output, "dcim.devicetype") == {"created": 1, "objects": 1} and "Dry run: nothing was changed." in output
    )
    assert api.get(MAKERS, {"name": library.maker})["count"] == 0


def test_permissions_of_the_importing_user_apply(library: Library, run: Any, make_user: Any, found: Any) -> None:
    user = make_user(("add change view", ["dcim.manufacturer", "dcim.devicetype"]))
    path = library.add("switch", "interfaces:\n  - {name: e1, type: virtual}")
    output = run(user=user.username, status=1)
    assert counts(output, "dcim.devicetype") == {"created": 1, "objects": 1}
    name = path.relative_to(library.root)
    assert (
        f"refused   dcim.interfacetemplate {name}: e1: line 6: You do not have permission to perform this action."
        in output
    )
    assert "no user is called 'nobody'" in run(user="nobody", status=1)


def test_images_are_those_of_the_slug_and_kept_as_long_as_they_are_the_same(
    library: Library, run: Any, found: Any, environment: Environment
) -> None:
    library.add("switch", slug="a-switch", front_image="true", rear_image="true")
    front = library.write(f"elevation-images/{library.maker}/a-switch.front.png", png())
    library.write(f"elevation-images/{library.maker}/a-switch.rear.png", b"no image")
    output = run(status=1)
    assert "switch.yaml: rear_image: Upload a valid image." in output
    shown = found("switch")
    assert shown["front_image"].endswith("-a-switch-front.png") and shown["rear_image"] is None
    kept = Path(environment.settings["media_root"]) / shown["front_image"].partition("/media/")[2]
    assert kept.read_bytes() == png()
    assert counts(run(status=1), "dcim.devicetype") == {"unchanged": 1, "objects": 1}
    front.write_bytes(png(8, 8))
    assert counts(run(status=1), "dcim.devicetype") == {"updated": 1, "objects": 1}
    assert [path.read_bytes() for path in kept.parent.iterdir()] == [png(8, 8)]


def test_text_is_taken_as_it_is_written() -> None:
    text = 'a: 1.10\nb: on\nc: 0123\nd: 2020-01-01\ne: ~\nf: "~"\ng:\nh: &x [1, null]\ni: *x\nj: !!str 1\n'
    told = {
        "a": "1.10",
        "b": "on",
        "c": "0123",
        "d": "2020-01-01",
        "e": None,
        "f": "~",
        "g": None,
        "h": ["1", None],
        "i": ["1", None],
        "j": "1",
    }
    assert yaml_reader.parse(text) == told

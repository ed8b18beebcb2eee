"""Files of the public device type libraries: their pictures, and what they say that has no field here.

The published library is looked for where ``NETINV_DEVICE_TYPES`` says, else in ``../shared/data`` beside the repository.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from netinv_testing import Api
from tests.support.device_type_files import Library, counts, environment, found, library, run, templates
from tests.support.images import png

pytestmark = pytest.mark.any_database
FIXTURES = (environment, found, library, run)
PUBLIC = Path(
    os.environ.get("NETINV_DEVICE_TYPES") or Path(__file__).parents[3] / "shared" / "data" / "devicetype-library"
)


@pytest.mark.parametrize(
    ("slug", "stem"),
    [
        (None, "{maker}-power-edge-r630"),
        (None, "{maker}-pe-r630"),
        ("a-slug", "a-slug"),
        ("a-slug", "{maker}-a-slug"),
        ("a-slug", "{maker}-power-edge-r630"),
        (None, "power-edge-r630"),
    ],
)
def test_pictures_have_the_names_of_both_public_libraries(
    library: Library, run: Any, found: Any, slug: str | None, stem: str
) -> None:
    library.write(
        f"device-types/{library.maker}/PE-R630.yaml",
        f"manufacturer: {library.maker}\nmodel: Power Edge R630\nfront_image: true\n"
        f"{f'slug: {slug}' if slug else ''}\n".encode(),
    )
    name = stem.format(maker=library.maker.lower().replace(" ", "-"))
    library.write(f"elevation-images/{library.maker}/{name}.front.png", png())
    assert "no such file" not in run()
    assert found("Power Edge R630")["front_image"]
    assert counts(run(), "dcim.devicetype") == {"unchanged": 1, "objects": 1}


def test_a_picture_is_imported_unless_the_file_says_false(library: Library, run: Any, found: Any) -> None:
    library.add("switch", slug="some", front_image=None, rear_image="false")
    for side in ("front", "rear"):
        library.write(f"elevation-images/{library.maker}/some.{side}.png", png())
    run()
    assert found("switch")["front_image"] and not found("switch")["rear_image"]


def test_values_without_a_field_here_are_kept_in_custom_fields(
    library: Library, run: Any, api: Api, found: Any
) -> None:
    more = "module-bays:\n  - {name: m1, position: '1'}\ninterfaces:\n  - {name: e1, type: virtual, poe_mode: pse, poe_type: type2-ieee802.3at, enabled: false}\n"
    library.add("one", more, airflow="passive", weight=5.5, weight_unit="kg", is_powered="false", u_height=0.5)
    output = run()
    assert "kept      dcim.devicetype: airflow of 1 objects, in the custom field library_airflow" in output
    assert "left out" not in output
    shown = found("one")
    told = {name: value for name, value in shown["custom_fields"].items() if value is not None}
    assert told == {
        "library_airflow": "passive",
        "library_weight": "5.5",
        "library_weight_unit": "kg",
        "library_is_powered": "false",
        "library_exact_u_height": "0.5",
        "library_module_bays": [{"name": "m1", "position": "1"}],
    }
    assert shown["u_height"] == 1
    (port,) = templates(api, "interface", shown)
    assert {name: value for name, value in port["custom_fields"].items() if value is not None} == {
        "library_poe_mode": "pse",
        "library_poe_type": "type2-ieee802.3at",
        "library_enabled": "false",
    }
    assert counts(run(), "all") == {"unchanged": 3, "objects": 3}
    library.add("two", airflow="front-to-rear")
    assert counts(run(), "all") == {"created": 1, "unchanged": 3, "objects": 4}


def test_without_permission_for_custom_fields_the_values_are_left_out_and_counted(
    library: Library, run: Any, make_user: Any, found: Any
) -> None:
    models = ["dcim.manufacturer", "dcim.devicetype", "dcim.interfacetemplate"]
    user = make_user(("add change view", models))
    library.add("one", "interfaces:\n  - {name: e1, type: new-type, poe_mode: pse}", airflow="passive")
    output = run(user=user.username)
    assert "left out  dcim.devicetype: airflow of 1 values, no such field here" in output
    assert "left out  dcim.interfacetemplate: type of 1 values, no such choice here" in output
    assert "left out  dcim.interfacetemplate: poe_mode of 1 values, no such field here" in output
    assert found("one")["model"] == "one"


def test_unknown_types_become_other_and_the_original_is_kept(library: Library, run: Any, api: Api, found: Any) -> None:
    library.add("one", "interfaces:\n  - {name: e1, type: 99tbase-x}\nconsole-ports:\n  - {name: c1, type: brain}\n")
    output = run()
    assert "kept      dcim.interfacetemplate: type of 1 objects, in the custom field library_type" in output
    (port,) = templates(api, "interface", found("one"))
    assert (port["type"]["value"], port["custom_fields"]["library_type"]) == ("other", "99tbase-x")
    (port,) = templates(api, "console-port", found("one"))
    assert (port["type"]["value"], port["custom_fields"]["library_type"]) == ("other", "brain")
    assert counts(run(), "all") == {"unchanged": 4, "objects": 4}


@pytest.mark.slow
@pytest.mark.skipif(not PUBLIC.is_dir(), reason="needs the published library")
@pytest.mark.night
def test_the_published_library_imports_whole_and_changes_nothing_again(run: Any, api: Api) -> None:
    output = run(PUBLIC)
    assert "refused" not in output and "the library has no such file" not in output
    files = list((PUBLIC / "device-types").rglob("*.y*ml"))
    assert counts(output, "dcim.devicetype") == {"created": len(files), "objects": len(files)}
    again = counts(run(PUBLIC), "all")
    assert again == {"unchanged": again["objects"], "objects": again["objects"]}

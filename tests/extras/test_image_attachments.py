"""Images attached to objects: bound to what they show, measured, gone with it; the rest of files is in the tests of
images.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from netinv_admin.commands.files import files as command
from netinv_core.environment import Environment
from netinv_testing import Api, Service, Unique
from tests.support.images import GIF, NOT_A_FILE, NOT_AN_IMAGE, kept, png, send

pytestmark = pytest.mark.any_database  # files

IMAGES = "/api/extras/image-attachments/"
SITES = "/api/dcim/sites/"
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(autouse=True)
def folder(configured: Any, tmp_path: Path) -> Any:
    """Where the files of one test are kept."""
    with configured(media_root=str(tmp_path / "media")):
        yield tmp_path / "media"


@pytest.fixture
def site(make: Any) -> Any:
    """A site."""
    return make(SITES, status="active")


@pytest.fixture
def attach(api: Api) -> Any:
    """``attach(object, name=…)``: an image of a site."""

    def attached(to: Any, **members: Any) -> Any:
        body = {"content_type": "dcim.site", "object_id": to["id"], "image": ("floor plan.png", png(30, 20)), **members}
        return send(api, "POST", IMAGES, body, status=201).json

    return attached


def inline(content: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def file_of(shown: Any) -> str:
    return str(shown["image"].removeprefix("http://localhost/media/"))


def test_a_picture_of_an_object_is_sent_in_a_form_and_says_how_large_it_is(
    api: Api, site: Any, attach: Any, folder: Path
) -> None:
    made = attach(site, name="Ground floor", image_height=1, image_width=1)
    assert (made["display"], made["image_width"], made["image_height"]) == ("Ground floor", 30, 20)
    assert made["parent"] == {name: site[name] for name in ("id", "display", "url", "name", "slug")}
    assert kept(folder) == [file_of(made)] and file_of(made).startswith("image-attachments/")
    assert api.get(made["url"]) == made
    assert api.send("GET", f"/media/{file_of(made)}", version=None, status=200).body == png(30, 20)
    changed = send(api, "PATCH", made["url"], {"image": ("b.gif", GIF)}, status=200).json
    assert (changed["image_width"], changed["image_height"], changed["name"]) == (4, 3, "Ground floor")
    assert kept(folder) == [file_of(changed)]
    assert api.patch(made["url"], {"image_width": 5, "image": changed["image"]}) == changed


def test_without_a_name_it_is_called_as_its_file(site: Any, attach: Any) -> None:
    assert attach(site)["display"] == "floor-plan.png"
    unnamed = attach(site, image=("", png()))
    assert unnamed["display"] == file_of(unnamed).removeprefix("image-attachments/")


def test_json_holds_pictures_as_data_urls(api: Api, site: Any, folder: Path) -> None:
    to = {"content_type": "dcim.site", "object_id": site["id"]}
    plain = "data:," + "".join(f"%{byte:02x}" for byte in GIF)
    made = api.post(IMAGES, [{**to, "image": inline(png(7, 5), "text/html")}, {**to, "image": plain}])
    assert [(shown["image_width"], shown["image_height"]) for shown in made] == [(7, 5), (4, 3)]
    assert [Path(name).suffix for name in (file_of(made[0]), file_of(made[1]))] == [".png", ".gif"]
    assert kept(folder) == sorted(map(file_of, made))
    assert api.patch(made[0]["url"], {"image": inline(png(9, 9))})["image_width"] == 9
    for wrong, reason in (
        ("data:", NOT_A_FILE),
        ("data:image/png;base64,###", NOT_A_FILE),
        (inline(b"<svg/>"), NOT_AN_IMAGE),
        ("data:,zz", NOT_AN_IMAGE),
    ):
        assert api.post(IMAGES, {**to, "image": wrong}, status=400) == {"image": [reason]}
    assert len(kept(folder)) == 2


def test_what_is_missing_or_wrong_is_named(api: Api, site: Any) -> None:
    body = {"content_type": "dcim.site", "object_id": site["id"], "image": inline(png())}
    missing = {name: ["This field is required."] for name in ("content_type", "object_id", "image")}
    assert api.post(IMAGES, {}, status=400) == send(api, "POST", IMAGES, {"name": "x"}, status=400).json == missing
    refused = {"image": [NOT_A_FILE]}
    assert api.post(IMAGES, body | {"image": "x.png"}, status=400) == refused
    assert api.post(IMAGES, body | {"image": None}, status=400) == {"image": ["This field may not be null."]}
    assert api.post(IMAGES, body | {"object_id": NOBODY}, status=400) == {
        "object_id": [f"Related object not found using the provided ID: {NOBODY}"]
    }
    assert set(api.post(IMAGES, body | {"name": "x" * 51}, status=400)) == {"name"}


@pytest.mark.parametrize(
    "label", ["dcim.nothing", "extras.status", "extras.imageattachment", "users.user", "dcim", 5, None]
)
def test_pictures_are_of_objects_of_the_inventory(api: Api, site: Any, label: Any) -> None:
    assert set(
        api.post(IMAGES, {"content_type": label, "object_id": site["id"], "image": inline(png())}, status=400)
    ) == {"content_type"}


def test_the_images_of_an_object_are_found_by_it(api: Api, site: Any, make: Any, attach: Any, unique: Unique) -> None:
    other = make(SITES, status="active")
    names = sorted(unique() for _ in range(3))
    for name in reversed(names):
        attach(site, name=name)
    attach(other)
    number = next(
        item["id"] for item in api.get("/api/extras/content-types/", {"app_label": "dcim", "model": "site"})["results"]
    )
    for query in (
        {"object_id": site["id"]},
        {"object_id": site["id"], "content_type": "dcim.site"},
        {"object_id": site["id"], "content_type_id": number},
    ):
        assert [shown["name"] for shown in api.get(IMAGES, query)["results"]] == names
    assert api.get(IMAGES, {"object_id": site["id"], "content_type": "dcim.rack"})["count"] == 0
    assert api.get(IMAGES, {"object_id__isw": site["id"][:13], "name__ic": names[0]})["count"] == 1


def test_permission_may_hang_on_the_images_of_an_object(
    site: Any, make: Any, attach: Any, make_user: Any, unique: Unique
) -> None:
    name, bare = unique(), make(SITES, status="active")
    attach(site, name=name)
    limited = make_user(("view", "dcim.site", {"images__name": name})).api
    assert [shown["id"] for shown in limited.get(SITES)["results"]] == [site["id"]]
    limited.get(bare["url"], status=404)


def test_images_and_their_files_go_with_what_they_show(
    api: Api, make: Any, attach: Any, folder: Path, statements: Any
) -> None:
    few, many = make(SITES, status="active"), make(SITES, status="active")
    for site, count in ((few, 1), (many, 6)):
        for number in range(count):
            attach(site, name=f"{number}")
    left, counts = attach(make(SITES, status="active")), []
    gone = make(SITES, status="active")
    attach(gone)
    api.delete(gone["url"])  # what is configured is read once a change of it, not once a request
    for site in (few, many):
        with statements() as found:
            api.delete(site["url"])
        counts.append(len(found))
    assert counts[0] == counts[1], counts
    assert kept(folder) == [file_of(left)]
    assert api.get(IMAGES, {"object_id": [few["id"], many["id"]]})["count"] == 0
    api.delete(left["url"])
    assert kept(folder) == []


def test_what_is_not_deleted_keeps_its_images(api: Api, make: Any, attach: Any, folder: Path) -> None:
    site, empty = make(SITES, status="active"), make(SITES, status="active")
    kind = make("/api/dcim/location-types/", content_types=[])
    make("/api/dcim/racks/", status="active", site=site["id"])
    images = [attach(site), attach(empty)]
    api.delete(SITES, [{"id": empty["id"]}, {"id": site["id"]}], status=409)
    api.delete(IMAGES, [{"id": images[0]["id"]}, {"id": kind["id"]}], status=400)
    assert kept(folder) == sorted(map(file_of, images))


def test_a_picture_is_for_those_who_may_view_the_attachment(site: Any, attach: Any, make_user: Any) -> None:
    path = f"/media/{file_of(attach(site, name='seen'))}"
    image, sites = "extras.imageattachment", ("view", "dcim.site")
    for permissions, status in (
        ([sites], 403),
        ([sites, ("view", image)], 200),
        ([sites, ("view", image, {"name": "other"})], 404),
        ([("view", image)], 404),
    ):
        make_user(*permissions).api.send("GET", path, version=None, status=status)


def test_the_command_knows_their_files(service: Service, site: Any, attach: Any, folder: Path, tmp_path: Path) -> None:
    url = service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    lines = [
        "[app:main]",
        "use = egg:netinv-core",
        f"netinv.database_url = {url}",
        f"netinv.secret = {service.settings['secret']}",
        f"netinv.media_root = {folder}",
    ]
    (tmp_path / "netinv.ini").write_text("\n".join(lines))
    present, missing = attach(site), attach(site)
    (folder / file_of(missing)).unlink()
    environment = Environment(str(tmp_path / "netinv.ini"))
    found = CliRunner().invoke(command, [], obj=environment)
    environment.engine.dispose()
    assert f"missing  {file_of(missing)}" in found.output and file_of(present) not in found.output

"""Images: sent in forms, kept as files whose fate is that of the transaction, shown to those who may view the
object.
"""

from __future__ import annotations

import concurrent.futures
import io
import os
import time
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import CliRunner

from netinv_admin.commands.files import files as command
from netinv_core.environment import Environment
from netinv_testing import Api, Service
from tests.support.http_server import served
from tests.support.images import GIF, NOT_A_FILE, NOT_AN_IMAGE, kept, png, send

TYPES = "/api/dcim/device-types/"
SITES = "/api/dcim/sites/"
CHANGES = "/api/extras/object-changes/"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xff\xc0\0\x0b\x08\0\x03\0\x04\x01\x01\x11\0\xff\xd9"
LOSSY = b"RIFF\x16\0\0\0WEBPVP8 \x0a\0\0\0\x10\0\0\x9d\x01\x2a\x04\0\x03\0"
LOSSLESS = b"RIFF\x12\0\0\0WEBPVP8L\x06\0\0\0\x2f\x03\x80\0\0\0"
EXTENDED = b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x03\0\0\x02\0\0"


@pytest.fixture(autouse=True)
def folder(configured: Any, tmp_path: Path) -> Any:
    """Where the files of one test are kept."""
    with configured(media_root=str(tmp_path / "media")):
        yield tmp_path / "media"


@pytest.fixture
def maker(api: Api, unique: Any) -> str:
    """The id of a manufacturer."""
    name = unique()
    return str(api.post("/api/dcim/manufacturers/", {"name": name, "slug": name})["id"])


@pytest.fixture
def make(api: Api, maker: str, unique: Any) -> Any:
    """``make(front_image=(name, bytes), …)``: a device type made with a form."""
    return lambda **members: (
        send(api, "POST", TYPES, {"manufacturer": maker, "model": unique(), **members}, status=201).json
    )


def name_of(url: str) -> str:
    assert url.startswith("http://localhost/media/devicetype-images/")
    return url.removeprefix("http://localhost/media/")


def fetch(api: Api, url: str, status: int = 200, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.send("GET", url.removeprefix("http://localhost"), version=None, headers=named, status=status)


# -- in and out


@pytest.mark.parametrize(
    ("content", "media_type", "suffix"),
    [
        (png(), "image/png", "png"),
        (GIF, "image/gif", "gif"),
        (JPEG, "image/jpeg", "jpg"),
        (LOSSY, "image/webp", "webp"),
        (LOSSLESS, "image/webp", "webp"),
        (EXTENDED, "image/webp", "webp"),
    ],
    ids=["png", "gif", "jpeg", "lossy webp", "lossless webp", "extended webp"],
)
def test_a_file_sent_in_a_form_is_read_back_as_the_image_it_is(
    api: Api, make: Any, folder: Path, content: bytes, media_type: str, suffix: str
) -> None:
    made = make(front_image=("picture.html", content))
    assert made["rear_image"] is None and api.get(made["url"])["front_image"] == made["front_image"]
    assert kept(folder) == [name_of(made["front_image"])]
    assert made["front_image"].endswith(f"-picture.{suffix}")
    answer = fetch(api, made["front_image"])
    assert answer.body == content and answer.content_type == media_type
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'"
    assert answer.headers["Cache-Control"] == "private, no-cache"


def test_members_of_a_form_are_read_as_json_has_them(api: Api, maker: str, unique: Any) -> None:
    tags = [
        api.post("/api/extras/tags/", {"name": unique(), "slug": unique(), "content_types": ["dcim.devicetype"]})
        for _ in range(2)
    ]
    model = unique()
    members = [
        ("manufacturer", f'{{"id": "{maker}"}}'),
        ("model", model),
        ("u_height", "2"),
        ("is_full_depth", "false"),
    ]
    members += [
        ("subdevice_role", "parent"),
        ("comments", "[no list]"),
        ("front_image", ("ä ö.gif", GIF)),
        ("nosuch", ("x", b"y")),
    ]
    members += [("tags", tag["id"]) for tag in tags]
    made = send(api, "POST", TYPES, members, status=201).json
    assert (made["model"], made["u_height"], made["is_full_depth"], made["comments"]) == (model, 2, False, "[no list]")
    assert made["subdevice_role"]["value"] == "parent" and made["front_image"].endswith("-a-o.gif")
    assert {tag["id"] for tag in made["tags"]} == {tag["id"] for tag in tags}
    blank = [
        ("manufacturer", maker),
        ("model", model),
        ("u_height", ""),
        ("subdevice_role", ""),
        ("comments", ""),
        ("tags", ""),
        ("custom_fields", "{}"),
    ]
    changed = send(api, "PUT", made["url"], blank, status=200).json
    assert (changed["u_height"], changed["subdevice_role"], changed["comments"], changed["tags"]) == (2, None, "", [])
    assert changed["front_image"] == made["front_image"]
    error = send(
        api, "PATCH", made["url"], [("model", ("x", b"y")), ("tags", "[1"), ("manufacturer", "")], status=400
    ).json
    assert error == {"model": ["A file was sent where a value is expected."], "tags": ["Value must be valid JSON."]}
    assert send(api, "PATCH", made["url"], {"manufacturer": ""}, status=400).json == {
        "manufacturer": ["This field may not be null."]
    }


def test_the_older_form_is_read_as_well(api: Api, maker: str, unique: Any, make: Any) -> None:
    encoded = {"Content-Type": "application/x-www-form-urlencoded"}
    model = unique()
    made = api.send(
        "POST", TYPES, f"manufacturer={maker}&model={model}&u_height=3".encode(), headers=encoded, status=201
    ).json
    assert (made["model"], made["u_height"], made["front_image"]) == (model, 3, None)
    pictured = make(front_image=("a.png", png()))
    assert api.send("PATCH", pictured["url"], b"front_image=", headers=encoded, status=200).json["front_image"] is None
    error = api.send("PATCH", pictured["url"], b"front_image=a.png", headers=encoded, status=400).json
    assert error == {"front_image": [NOT_A_FILE]}


def test_json_takes_an_image_away_or_leaves_it_but_holds_none(api: Api, make: Any, folder: Path) -> None:
    made = make(front_image=("a.png", png()), rear_image=("b.png", png()))
    shown = api.get(made["url"])
    assert api.put(made["url"], shown)["front_image"] == made["front_image"]
    for wrong in (
        "a.png",
        "",
        1,
        {},
        [made["front_image"]],
        made["rear_image"],
        "http://localhost/media/devicetype-images/other.png",
    ):
        assert api.patch(made["url"], {"front_image": wrong}, status=400) == {"front_image": [NOT_A_FILE]}
    assert len(kept(folder)) == 2
    assert api.patch(made["url"], {"front_image": None})["front_image"] is None
    assert kept(folder) == [name_of(made["rear_image"])]
    assert send(api, "PATCH", made["url"], {"rear_image": ""}, status=200).json["rear_image"] is None
    assert kept(folder) == []


def test_the_change_log_has_the_name_of_the_file(api: Api, make: Any) -> None:
    made = make(front_image=("a.png", png()))
    (change,) = api.get(CHANGES, {"changed_object_id": made["id"]})["results"]
    assert change["object_data"]["front_image"] == name_of(made["front_image"])
    assert change["object_data"]["rear_image"] == ""


def test_what_a_sender_calls_a_file_is_at_most_the_end_of_its_name(api: Api, make: Any, folder: Path) -> None:
    for called in (
        "../../../etc/passwd",
        "..\\x.png",
        "/a/b.png",
        ".png",
        "",
        "\N{SNOWMAN}",
        "x" * 300 + ".png",
        "a%2f..png",
    ):
        name = name_of(make(front_image=(called, png()))["front_image"])
        assert len(name) <= 100 and name.count("/") == 1 and ".." not in name and name.endswith(".png")
    assert [path.name for path in folder.iterdir()] == ["devicetype-images"]
    twice = [make(front_image=("same.png", png()))["front_image"] for _ in range(2)]
    assert twice[0] != twice[1]


# -- refused


@pytest.mark.parametrize(
    "content",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<html></html>",
        b"BM\x1e\0\0\0",
        b"II*\0",
        b"\x89PNG\r\n\x1a\n",
        png()[:32],
        png()[:19] + b"\5" + png()[20:],
        png(0, 5),
        GIF[:8],
        b"\xff\xd8\xff",
        b"\xff\xd8\xff\xe0\0\0",
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8\xff\xe0\0\4ab" * 2,
        LOSSY[:-1],
        LOSSY.replace(b"\x9d", b"\x9c"),
        LOSSY.replace(b"VP8 ", b"VP9 "),
        LOSSLESS.replace(b"\x2f", b"\x2e"),
        b"RIFF\4\0\0\0WEBP",
        b"RIFF\4\0\0\0WAVE",
    ],
)
def test_what_is_no_image_is_refused(api: Api, maker: str, unique: Any, folder: Path, content: bytes) -> None:
    body = {"manufacturer": maker, "model": unique(), "front_image": ("a.png", content)}
    assert send(api, "POST", TYPES, body, status=400).json == {"front_image": [NOT_AN_IMAGE]}
    assert kept(folder) == []


def test_an_empty_file_and_one_that_claims_too_much_are_refused(api: Api, make: Any) -> None:
    made = make()
    assert send(api, "PATCH", made["url"], {"front_image": ("a.png", b"")}, status=400).json == {
        "front_image": ["The submitted file is empty."]
    }
    error = send(api, "PATCH", made["url"], {"rear_image": ("a.png", png(60_000, 60_000))}, status=400).json
    assert error == {"rear_image": ["The image has 60000 × 60000 pixels; at most 64000000 in all are taken."]}


def test_files_are_as_large_as_the_setting_says(api: Api, make: Any, configured: Any, folder: Path) -> None:
    made = make()
    with configured(max_upload_size=1000):
        large = png() + bytes(1001 - len(png()))
        assert send(api, "PATCH", made["url"], {"front_image": ("a.png", large[:-1])}, status=200).json["front_image"]
        error = send(api, "PATCH", made["url"], {"front_image": ("a.png", large)}, status=400).json
        assert error == {"front_image": ["The file has 1001 bytes; at most 1000 are taken."]}
        assert len(kept(folder)) == 1


def test_a_form_that_is_too_large_is_refused_before_it_is_in_memory(
    service: Service, api: Api, make: Any, configured: Any
) -> None:
    made = make()
    read = [0]

    class Counted(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            found = super().read(size)
            read.append(len(found))
            return found

    def patch(**more: Any) -> Any:
        headers = {
            "Authorization": f"Token {service.admin.token}",
            "Content-Type": "multipart/form-data; boundary=limit",
        }
        blank = api._app.RequestClass.blank(f"{TYPES}{made['id']}/", method="PATCH", headers=headers)
        blank.environ.update({"wsgi.input": Counted(bytes(4 * 2**20)), **more})
        return blank.get_response(service.app)

    with configured(max_upload_size=1000):
        told = patch(CONTENT_LENGTH=str(4 * 2**20))
        assert told.status_int == 413 and told.json == {
            "detail": "The request body has 4194304 bytes; at most 1050576 are taken (netinv.max_upload_size)."
        }
        untold = patch(**{"CONTENT_LENGTH": "", "wsgi.input_terminated": True})
        assert untold.status_int == 413 and untold.json["detail"].startswith("The request body has ")
        assert max(read) <= 1_050_577


@pytest.mark.parametrize(
    ("body", "boundary", "reason"),
    [
        (b"", "x", "The end is missing"),
        (b"--x\r\n", "x", "A part has no header"),
        (b'--x\r\nContent-Disposition: form-data; name="model"\r\n\r\ny\r\n', "x", "The end is missing"),
        (b"--x\r\nContent-Type: text/plain\r\n\r\ny\r\n--x--", "x", "A part has no name"),
        (b"--x\r\nContent-Disposition: form-data\r\n\r\ny\r\n--x--", "x", "A part has no name"),
        (b"--xy\r\n\r\n--x--", "x", "A part has no header"),
        (b'--x\r\nContent-Disposition: form-data; name="model"\r\n\r\n\xff\r\n--x--', "x", "A part is not UTF-8"),
        (b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n' * 1001 + b"--x--", "x", "Too many parts"),
        (b"--x--", "", "Invalid boundary"),
        (b"--x--", "x" * 71, "Invalid boundary"),
    ],
)
def test_a_broken_form_is_told_so(api: Api, make: Any, body: bytes, boundary: str, reason: str) -> None:
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    refused = api.send("PATCH", make()["url"], body, headers=headers, status=400)
    assert refused.json == {"detail": f"Multipart form parse error - {reason}"}
    encoded = {"Content-Type": "application/x-www-form-urlencoded"}
    assert (
        api.send("POST", TYPES, b"model=%ff", headers=encoded, status=400)
        .json["detail"]
        .startswith("Form parse error - ")
    )
    assert (
        api.send("POST", TYPES, b"a=1&" * 2000, headers=encoded, status=400)
        .json["detail"]
        .startswith("Form parse error - ")
    )


def test_only_single_objects_of_resources_with_images_are_taken_from_forms(api: Api, make: Any, unique: Any) -> None:
    made = make()
    assert (
        send(api, "POST", SITES, {"name": unique()}, status=415)
        .json["detail"]
        .startswith('Unsupported media type "multipart/form-data; ')
    )
    for method in ("PUT", "PATCH", "DELETE"):
        send(api, method, TYPES, {"id": made["id"]}, status=415)


# -- files and transactions


def test_a_replaced_file_goes_and_a_refused_one_does_not_come(
    api: Api, maker: str, make: Any, make_user: Any, folder: Path, unique: Any
) -> None:
    made, other = make(front_image=("a.png", png())), make()
    changed = send(api, "PATCH", made["url"], {"front_image": ("b.gif", GIF)}, status=200).json
    assert kept(folder) == [name_of(changed["front_image"])]
    fetch(api, made["front_image"], status=404)
    for wrong in ({"model": other["model"]}, {"u_height": "x"}, {"manufacturer": "zz"}):
        send(api, "PATCH", made["url"], {"front_image": ("c.png", png()), **wrong}, status=400)
    limited = make_user(("add change view", "dcim.devicetype", {"comments": ""}), ("view", "dcim.manufacturer"))
    send(limited.api, "PATCH", made["url"], {"front_image": ("c.png", png()), "comments": "x"}, status=403)
    send(
        limited.api,
        "POST",
        TYPES,
        {"manufacturer": maker, "model": unique(), "front_image": ("c.png", png()), "comments": "x"},
        status=403,
    )
    assert kept(folder) == [name_of(changed["front_image"])]
    assert api.get(made["url"])["front_image"] == changed["front_image"]


def test_files_go_with_what_has_them(api: Api, make: Any, maker: str, folder: Path, unique: Any) -> None:
    made, other = make(front_image=("a.png", png()), rear_image=("b.png", png())), make(rear_image=("c.png", png()))
    place = {"status": "active", "name": unique()}
    role, site = api.post("/api/dcim/device-roles/", {"name": unique(), "slug": unique()}), api.post(SITES, place)
    device = api.post(
        "/api/dcim/devices/", {**place, "device_type": made["id"], "device_role": role["id"], "site": site["id"]}
    )
    api.delete(made["url"], status=409)
    api.delete(TYPES, [{"id": other["id"]}, {"id": made["id"]}], status=409)
    assert len(kept(folder)) == 3
    api.delete(device["url"])
    api.delete(TYPES, [{"id": other["id"]}, {"id": made["id"]}])
    assert kept(folder) == []


def test_a_rolled_back_savepoint_takes_its_files_along_and_nothing_else(service: Service, folder: Path) -> None:
    with service.unit_of_work() as uow:
        uow.connection  # noqa: B018 - begins
        uow.files.add("some/first.png", b"1")
        inner = uow.session.begin_nested()
        uow.files.add("some/second.png", b"2")
        uow.files.discard("some/first.png")
        inner.rollback()
        assert kept(folder) == ["some/first.png"]
        with uow.session.begin_nested():
            uow.files.add("some/third.png", b"3")
        uow.files.discard("some/third.png")
        assert kept(folder) == ["some/first.png", "some/third.png"]
    assert kept(folder) == ["some/first.png"]
    for name in ("some/../../first.png", "some/.first.png", "first.png", "/some/first.png", "some/a/b", ""):
        with pytest.raises(FileNotFoundError):
            uow.files.open(name)


def test_of_files_sent_at_once_one_stays(service: Service, make: Any, folder: Path) -> None:
    """Over real connections: each replaces what the one before it left."""
    made, headers = make(front_image=("a.png", png())), {"Authorization": f"Token {service.admin.token}"}
    with served(service.app) as address, concurrent.futures.ThreadPoolExecutor(16) as pool:
        url = f"{address}{TYPES}{made['id']}/"
        answers = list(
            pool.map(
                lambda number: requests.patch(
                    url, files={"front_image": (f"{number}.png", png())}, headers=headers, timeout=60
                ),
                range(16),
            )
        )
        assert {answer.status_code for answer in answers} == {200}
        assert kept(folder) == [
            requests.get(url, headers=headers, timeout=60).json()["front_image"].removeprefix(f"{address}/media/")
        ]


def test_a_folder_that_cannot_be_written_is_told_and_nothing_changes(
    api: Api, make: Any, configured: Any, tmp_path: Path
) -> None:
    made = make()
    (tmp_path / "file").write_text("no folder")
    with configured(media_root=str(tmp_path / "file")):
        refused = send(api, "PATCH", made["url"], {"front_image": ("a.png", png()), "comments": "x"}, status=503).json
    assert refused == {"detail": "The file cannot be stored."}
    assert api.get(made["url"]) == {
        name: value for name, value in made.items() if name not in ("computed_fields", "relationships")
    } | {"device_count": 0}


def test_the_command_compares_files_and_database(service: Service, make: Any, folder: Path, tmp_path: Path) -> None:
    ini = tmp_path / "netinv.ini"
    url = service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    lines = [
        "[app:main]",
        "use = egg:netinv-core",
        f"netinv.database_url = {url}",
        f"netinv.secret = {service.settings['secret']}",
        f"netinv.media_root = {folder}",
    ]
    ini.write_text("\n".join(lines))
    present, missing = (
        make(front_image=("a.png", png()))["front_image"],
        make(front_image=("b.png", png()))["front_image"],
    )
    (folder / name_of(missing)).unlink()
    for name, age in (("old.png", 2), ("new.png", 0)):
        path = folder / "devicetype-images" / name
        path.write_bytes(png())
        os.utime(path, (time.time() - age * 86400,) * 2)
    environment = Environment(str(ini))
    found = CliRunner().invoke(command, [], obj=environment)
    assert found.exit_code == 1
    assert f"missing  {name_of(missing)}" in found.output and "unnamed  devicetype-images/old.png" in found.output
    assert name_of(present) not in found.output and "new.png" not in found.output
    CliRunner().invoke(command, ["--remove"], obj=environment)
    environment.engine.dispose()
    assert kept(folder) == sorted([name_of(present), "devicetype-images/new.png"])


# -- who may see them


def test_a_file_is_for_those_who_may_view_what_has_it(
    api: Api, anonymous: Api, make: Any, make_user: Any, configured: Any
) -> None:
    made = make(front_image=("a.png", png()), comments="seen")
    url = made["front_image"]
    assert fetch(anonymous, url, status=403).json == {"detail": "Authentication credentials were not provided."}
    fetch(make_user(("view", "dcim.site")).api, url, status=403)
    fetch(make_user(("view", "dcim.devicetype", {"comments": "other"})).api, url, status=404)
    assert fetch(make_user(("view", "dcim.devicetype", {"comments": "seen"})).api, url).body == png()
    with configured(exempt_view_permissions=("dcim.devicetype",)):
        assert fetch(anonymous, url).body == png()
    with configured(exempt_view_permissions=("dcim.site",)):
        fetch(anonymous, url, status=403)


def test_a_file_that_is_not_there_is_not_found(api: Api, make: Any, folder: Path) -> None:
    made = make(front_image=("a.png", png()))
    for path in (
        "devicetype-images/other.png",
        "nosuch/a.png",
        "devicetype-images/../a",
        "devicetype-images/%2e%2e%2fa",
        "a",
        "",
    ):
        api.send("GET", f"/media/{path}", version=None, status=404)
    (folder / name_of(made["front_image"])).unlink()
    fetch(api, made["front_image"], status=404)


def test_an_image_is_sent_again_only_when_it_is_another(api: Api, make: Any) -> None:
    url = make(front_image=("a.png", png()))["front_image"]
    first = fetch(api, url)
    for condition in ({"If_None_Match": first.headers["ETag"]}, {"If_Modified_Since": first.headers["Last-Modified"]}):
        again = fetch(api, url, status=304, **condition)
        assert again.body == b"" and again.headers["ETag"] == first.headers["ETag"]
    assert fetch(api, url, If_None_Match='"other"').body == png()
    head = api.send(
        "HEAD", url.removeprefix("http://localhost"), version=None, headers={"Accept": "image/*"}, status=200
    )
    assert head.body == b"" and head.headers["Content-Length"] == str(len(png()))
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        assert (
            api.send(method, url.removeprefix("http://localhost"), version=None, status=405).headers["Allow"]
            == "GET, HEAD"
        )


# -- described


@pytest.mark.night
def test_images_are_described(api: Api, service: Service) -> None:
    told = api.options(TYPES)
    assert told["parses"] == ["application/json"]
    assert told["actions"]["POST"]["front_image"] == {
        "type": "image upload",
        "required": False,
        "read_only": False,
        "label": "Front image",
        "max_length": 100,
    }
    document = service.anonymous.get("/api/swagger.json")
    schemas, paths = document["components"]["schemas"], document["paths"]
    assert schemas["DeviceType"]["properties"]["front_image"] == {"type": "string", "format": "uri", "nullable": True}
    for path, method, name in (
        ("/dcim/device-types/", "post", "DeviceTypeForm"),
        ("/dcim/device-types/{id}/", "patch", "PatchedDeviceTypeForm"),
    ):
        content = paths[path][method]["requestBody"]["content"]
        assert (
            content["multipart/form-data"] == {"schema": {"$ref": f"#/components/schemas/{name}"}}
            and "application/json" in content
        )
        assert schemas[name]["properties"]["front_image"]["format"] == "binary"
    assert (
        schemas["DeviceTypeForm"]["required"] == ["manufacturer", "model"]
        and "required" not in schemas["PatchedDeviceTypeForm"]
    )
    assert "multipart/form-data" not in paths["/dcim/sites/"]["post"]["requestBody"]["content"]

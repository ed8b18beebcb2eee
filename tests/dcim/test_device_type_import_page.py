"""Files of the device type library on the import page of device types: single files, archives, and what is refused."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import webtest

from netinv_dcim.device_type_library import MAX_TYPES, archives
from netinv_dcim.web import device_type_upload
from netinv_testing import Api, Samples, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser, BrowserPage
from tests.support.images import png

pytestmark = pytest.mark.any_database  # files and their archives

PAGE, TYPES, MAKERS = "/dcim/device-types/import/", "/api/dcim/device-types/", "/api/dcim/manufacturers/"
Files = Mapping[str, bytes]


@pytest.fixture
def maker(unique: Callable[[], str]) -> str:
    """A manufacturer that no other type has."""
    return f"Maker {unique()}"


def described(maker: str, model: str, more: str = "") -> bytes:
    """The file of a type."""
    return f"manufacturer: {maker}\nmodel: {model}\n{more}".encode()


def zipped(files: Files, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packing) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(files: Files, links: Mapping[str, str] | None = None) -> bytes:
    """A compressed tar file."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return stream.getvalue()


def upload(browser: Browser, files: Files, status: int = 200) -> BrowserPage:
    """The preview of uploaded files."""
    form = browser.get(PAGE).form()
    form["file"] = [webtest.Upload(name, content) for name, content in files.items()]
    return form.submit("_step", status=status)


def rows(page: BrowserPage) -> dict[str, str]:
    """The text beside each file."""
    table = page.html.select('[aria-label="Files"] tbody tr')
    return {row.th.get_text(strip=True): row.td.get_text(" ", strip=True) for row in table}


def models(api: Api, maker: str) -> list[str]:
    """The models of a manufacturer."""
    found = api.get(TYPES, {"limit": 0, "q": maker})["results"]
    return sorted(item["model"] for item in found if item["manufacturer"]["name"] == maker)


def test_a_newer_file_leads_to_the_plan_that_applies_the_type(
    browser: Browser, api: Api, service: Service, maker: str
) -> None:
    """Once it is imported; the preview says so."""
    files = {"one.yaml": described(maker, "one", "interfaces:\n  - {name: e1, type: 1000base-t}\n")}
    done = upload(browser, files).form().submit("_step", value="apply", status=200)
    assert "devices that differ" not in done.words
    (type_,) = api.get(TYPES, {"model": "one", "q": maker})["results"]
    for _ in range(2):
        Samples(service).make(service.registry["dcim.device"], device_type=type_["id"])
    files = {"one.yaml": described(maker, "one", "interfaces:\n  - {name: e1, type: 1000base-t, label: P}\n")}
    preview = upload(browser, files)
    offer = f"Apply {maker} one to 2 devices that differ"
    assert f"After the import {offer}" in preview.words and not preview.html.select("a[href*=apply]")
    done = preview.form().submit("_step", value="apply", status=200)
    (link,) = done.html.select("a[href*=apply]")
    assert link.get_text() == offer
    assert "2 changed on 2 devices." in browser.get(link["href"]).words


def test_the_option_exact_deletes_the_components_that_a_file_has_not(browser: Browser, api: Api, maker: str) -> None:
    """It can be changed on the preview, whose *Import* then asks for a look at the new one."""
    ports = "interfaces:\n  - {name: e1, type: virtual, label: L}\n"
    both = described(maker, "one", f"{ports}  - {{name: e2, type: virtual}}\n")
    upload(browser, {"one.yaml": both}).form().submit("_step", value="apply", status=200)
    (type_,) = api.get(TYPES, {"model": "one", "q": maker})["results"]

    def labels() -> dict[str, str]:
        found = api.get("/api/dcim/interface-templates/", {"device_type_id": type_["id"]})["results"]
        return {item["name"]: item["label"] for item in found}

    newer = {"one.yaml": described(maker, "one", ports.replace(", label: L", ""))}
    page = upload(browser, newer)
    assert rows(page) == {"one.yaml": "unchanged e2: not in the file, and stays"}
    assert "Nothing would change." in page.words
    form = page.form()
    form["device-type-library_exact"] = True
    page = form.submit("_step", value="preview", status=200)
    assert rows(page) == {"one.yaml": "updated e2: not in the file, and is deleted"}
    assert "interface template1 updated, 1 deleted" in page.words
    form = page.form()
    form["device-type-library_exact"] = False
    other = form.submit("_step", value="apply", status=200)
    assert "options differ from those of the preview" in other.words and labels() == {"e1": "L", "e2": ""}
    form["device-type-library_exact"] = True
    form.submit("_step", value="apply", status=200)
    assert labels() == {"e1": ""}


@pytest.mark.night
def test_several_files_with_a_picture_are_previewed_then_imported(browser: Browser, api: Api, maker: str) -> None:
    files = {
        "one.yaml": described(maker, "one", "airflow: passive\ninterfaces:\n  - {name: e1, type: virtual}\n"),
        "two.yml": described(maker, "two", "u_height: wrong\n"),
        "one.front.png": png(),
        "other.front.png": png(),
        "notes.txt": b"text",
    }
    page = upload(browser, files)
    assert rows(page) == {
        "two.yml": "refused line 3: u_height is wrong: A valid integer is required.",
        "one.yaml": "created",
        "other.front.png": f"skipped {device_type_upload.UNUSED}",
        "notes.txt": "skipped it is no file of a device type",
    }
    assert "airflow of 1, in the custom field library_airflow" in page.words
    assert models(api, maker) == [] and api.get(MAKERS, {"name": maker})["count"] == 0
    done = page.form().submit("_step", status=200)
    assert rows(done)["one.yaml"] == "created" and "Imported" in done.words
    (made,) = api.get(TYPES, {"model": "one", "q": maker})["results"]
    assert made["front_image"] and made["custom_fields"]["library_airflow"] == "passive"
    again = upload(browser, {"one.yaml": files["one.yaml"], "one.front.png": png()})
    assert rows(again)["one.yaml"] == "unchanged" and "Nothing would change." in again.words


@pytest.mark.parametrize("packed", [zipped, tarred])
def test_an_archive_of_a_library_is_imported(
    browser: Browser, api: Api, maker: str, packed: Callable[[Files], bytes]
) -> None:
    slug = maker.lower().replace(" ", "-")
    files = {
        f"library-main/device-types/{maker}/a.yaml": described(maker, "A 1", "front_image: true\n"),
        f"library-main/elevation-images/{maker}/{slug}-a-1.front.png": png(),
        f"library-main/module-types/{maker}/m.yaml": described(maker, "module"),
        "library-main/README.md": b"read me",
    }
    page = upload(browser, {"library.zip": packed(files)})
    told = rows(page)
    assert told[f"library-main/device-types/{maker}/a.yaml"] == "created"
    assert told[f"library-main/module-types/{maker}/m.yaml"] == "skipped there are no module types here"
    page.form().submit("_step", status=200)
    (made,) = api.get(TYPES, {"q": maker})["results"]
    assert made["front_image"] and made["model"] == "A 1"


@pytest.mark.night
def test_a_pasted_type_is_imported(browser: Browser, api: Api, maker: str) -> None:
    form = browser.get(PAGE).form()
    form["data"] = described(maker, "pasted").decode()
    form.submit("_step", status=200).form().submit("_step", status=200)
    assert models(api, maker) == ["pasted"]


def test_tables_of_types_are_imported_as_before(browser: Browser, api: Api, maker: str) -> None:
    slug = maker.lower().replace(" ", "-")
    api.post(MAKERS, {"name": maker, "slug": slug})
    page = upload(browser, {"types.csv": f"manufacturer,model\n{slug},table\n".encode()})
    page.form().submit("_step", status=303)
    assert models(api, maker) == ["table"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.zip", zipped({"../a.yaml": b"manufacturer: A\n"}), "names a file outside of it: ../a.yaml"),
        ("a.zip", zipped({"/etc/a.yaml": b"manufacturer: A\n"}), "names a file outside of it: /etc/a.yaml"),
        ("a.zip", zipped({"C:\\a.yaml": b"manufacturer: A\n"}), "names a file outside of it"),
        ("a.tgz", tarred({"x/../../a.yaml": b"manufacturer: A\n"}), "names a file outside of it"),
        ("a.zip", zipped({"a.yaml": b"#" * 30_000_000}), f"is {archives.MAX_RATIO} times larger"),
        ("a.tgz", tarred({"a.yaml": b"#" * 30_000_000}), "when it is unpacked"),
        ("a.zip", b"PK\x03\x04" + b"x" * 50, "cannot be unpacked"),
        ("a.tgz", b"\x1f\x8b" + b"x" * 50, "cannot be unpacked"),
        ("a.zip", zipped({"a.yaml": b"manufacturer: A\n"})[:-30], "cannot be unpacked"),
        ("a.tgz", tarred({"a.yaml": b"manufacturer: A\n"})[:-20], "cannot be unpacked"),
        ("a.zip", zipped({"a.txt": b"text"}), "The files hold no device types"),
    ],
    ids=[
        *(f"outside{n}" for n in range(4)),
        *(f"bomb{n}" for n in range(2)),
        *(f"broken{n}" for n in range(4)),
        "empty",
    ],
)
def test_an_archive_that_is_hostile_or_broken_is_refused(
    browser: Browser, name: str, content: bytes, reason: str
) -> None:
    assert reason in upload(browser, {name: content}, status=422).words


def test_links_in_archives_are_left_out(browser: Browser, maker: str) -> None:
    files = {"a.yaml": described(maker, "a")}
    page = upload(browser, {"a.tgz": tarred(files, {"passwd.yaml": "/etc/passwd"})})
    assert rows(page) == {"a.yaml": "created", "passwd.yaml": f"skipped {archives.NOT_FOLLOWED}"}


def test_more_types_than_a_browser_waits_for_are_refused(browser: Browser, maker: str) -> None:
    files = {f"{number}.yaml": described(maker, str(number)) for number in range(MAX_TYPES + 1)}
    assert "At most 500 are imported at once here" in upload(browser, {"a.zip": zipped(files)}, status=422).words


def test_permissions_of_the_user_apply(service: Service, make_user: Any, maker: str) -> None:
    user = make_user(("add change view", ["dcim.devicetype"]), password=PASSWORD)
    page = upload(Browser(service, user), {"a.yaml": described(maker, "a")})
    assert "refused" in rows(page)["a.yaml"]

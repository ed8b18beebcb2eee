"""Names of uploaded files, and addresses of further pages that repeat parameters: each is clean and leads where it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from netinv_testing import Service, Unique
from netinv_web.testing.fuzzing import call, environ_of, quote_text
from tests.support.header_values import VALUES
from tests.support.images import png

SITES, IMAGES, REGIONS = "/api/dcim/sites/", "/api/extras/image-attachments/", "/api/dcim/regions/"
ADDRESS = re.compile(r"http://localhost/[!-~]*")
NAMES = {
    **VALUES,
    "folders": "../../../etc/x.png",
    "Windows": "C:\\x\\..\\y.png",
    "markup": "<script>x</script>.svg",
    "no": "",
}
pytestmark = pytest.mark.any_database


@pytest.fixture
def site(service: Service, unique: Unique) -> Any:
    """A site."""
    return service.api.post(SITES, {"name": unique(), "status": "active"})


def part(name: str, content: bytes, more: str = "") -> bytes:
    """A part of a form."""
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'
    return head.encode("utf-8", "surrogatepass") + content + b"\r\n"


@pytest.mark.parametrize("form", ["filename", "filename*"])
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_the_name_of_an_uploaded_image_is_made_a_file_name(
    service: Service, configured: Any, tmp_path: Path, site: Any, name: str, form: str
) -> None:
    more = f'; filename="{name}"' if form == "filename" else f"; filename*=UTF-8''{quote_text(name)[:8000]}"
    fields = {"content_type": b"dcim.site", "object_id": site["id"].encode(), "name": b"image"}
    body = b"".join([part(field, value) for field, value in fields.items()] + [part("image", png(), more)])
    headers = {
        "Authorization": f"Token {service.admin.token}",
        "Content-Type": "multipart/form-data; boundary=b",
        "Accept": "application/json",
    }
    with configured(media_root=str(tmp_path)):
        status, text = call(service.app, environ_of("POST", IMAGES, body + b"--b--\r\n", headers))
        assert status in (201, 400), text[:500]
        stored = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert len(stored) == (1 if status == 201 else 0)
        if status == 400:
            return
        made = json.loads(text)
        assert re.fullmatch(r"http://localhost/media/image-attachments/[\w.-]{1,200}", made["image"], re.ASCII)
        assert stored[0].parent == tmp_path / "image-attachments"
        answer = service.api.send("GET", urlsplit(made["image"]).path, status=200)
        assert all(value.isprintable() and value.isascii() for value in answer.headers.values())


@pytest.mark.parametrize("start", [{}, {"cursor": ""}], ids=["offset", "cursor"])
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_addresses_of_further_pages_repeat_parameters_encoded(
    service: Service, unique: Unique, value: str, start: dict[str, str]
) -> None:
    word, text = unique(), value.replace("\x00", "")[:150]
    service.api.post(REGIONS, [{"name": f"{word} {number}", "description": word} for number in range(3)])
    query = {"name__n": text, "description": [word, text], "limit": 1, "name__nic": '"><&#?;+%41 ', **start}
    page = service.api.get(REGIONS, query, status=(200, 400))
    found = []
    while "results" in page:
        found += [item["name"] for item in page["results"]]
        for address in (page["next"], page["previous"]):
            assert address is None or ADDRESS.fullmatch(address), address
        if page["next"] is None:
            break
        page = service.api.get(page["next"])
    assert "results" not in page or sorted(found) == [f"{word} {number}" for number in range(3)]

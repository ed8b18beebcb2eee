"""Accept headers and forms: whatever their notation, they are read as what was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from netinv_core.http.versions import DEFAULT, SUPPORTED
from netinv_testing import Service
from tests.support.images import png

pytestmark = pytest.mark.any_database
TENANTS, TYPES = "/api/tenancy/tenants/", "/api/dcim/device-types/"
JSON, HTML = "application/json", "text/html"
OFFERED = {JSON: JSON, "*/*": JSON, "application/*": JSON, HTML: HTML, "text/*": HTML}
spaces = st.sampled_from(["", " ", "\t", "  "])


class Range(NamedTuple):
    """A media range of an Accept header: as it is written, and what it means."""

    written: str
    media: str
    quality: float
    version: str | None


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    """A media range in one of its notations."""
    media = draw(st.sampled_from([*OFFERED, JSON, "image/png", "text/plain"]))
    thousandths = draw(st.one_of(st.none(), st.integers(0, 1000)))
    version = draw(st.one_of(st.none(), st.sampled_from([*SUPPORTED, "1.1", "2"])))
    parameters = [draw(st.sampled_from([f"version={version}", f'Version="{version}"']))] if version else []
    if thousandths is not None:
        quality = f"{thousandths / 1000:.3f}"
        parameters.append(f"{draw(st.sampled_from('qQ'))}={draw(st.sampled_from([quality, quality.rstrip('0')]))}")
    parameters = draw(st.permutations([*parameters, *draw(st.sampled_from([[], ["charset=utf-8"]]))]))
    written = draw(st.sampled_from([media, media.upper(), media.title()]))
    for parameter in parameters:
        written += f"{draw(spaces)};{draw(spaces)}{parameter}"
    return Range(written, media, 1.0 if thousandths is None else thousandths / 1000, version)


@settings(max_examples=80)
@given(st.lists(ranges(), min_size=1, max_size=4), spaces)
@example([Range("application/json;q=0", JSON, 0.0, None)], "")
@example([Range("application/json;q=0.", JSON, 0.0, None)], "")
@pytest.mark.night
def test_the_best_media_type_that_is_offered_is_chosen(service: Service, accepted: list[Range], space: str) -> None:
    header = f"{space},{space}".join(item.written for item in accepted)
    wanted = [
        item for item in sorted(accepted, key=lambda item: -item.quality) if item.media in OFFERED and item.quality
    ]
    answer = service.api.send("GET", TENANTS, query={"limit": 1}, version=None, headers={"Accept": header})
    if not wanted or wanted[0].version not in (None, *SUPPORTED):
        assert answer.status_int == 406
    else:
        assert (answer.status_int, answer.content_type) == (200, OFFERED[wanted[0].media])
        assert answer.headers["API-Version"] == (wanted[0].version or DEFAULT)
    event(f"{answer.status_int} {answer.content_type}")


@settings(max_examples=40)
@given(st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=60))
@example('application/json;version="1.6')
@example("application/json;q=٣")
def test_any_other_accept_header_is_answered(service: Service, header: str) -> None:
    service.api.send("GET", TENANTS, query={"limit": 1}, version=None, headers={"Accept": header}, status=(200, 406))


# -- forms

texts = st.text(
    st.one_of(st.sampled_from('ab-=&%+[{"\r\n;ü日 '), st.characters(exclude_categories=["Cs", "Cc"])), max_size=20
)
boundaries = st.text("abzAZ019'()+_,-./:=?", min_size=1, max_size=70)


@pytest.fixture(scope="session")
def maker(service: Service) -> str:
    """The id of a manufacturer."""
    name = service.unique()
    made: str = service.api.post("/api/dcim/manufacturers/", {"name": name, "slug": name})["id"]
    return made


@pytest.fixture(scope="module", autouse=True)
def folder(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder of the uploaded files."""
    with service.configured(media_root=str(tmp_path_factory.mktemp("media"))):
        yield


def encoded(members: dict[str, str | tuple[str, bytes]], boundary: str, data: st.DataObject) -> tuple[bytes, str]:
    """A multipart body and its content type, in one of the notations that RFC 2046 and RFC 7578 leave open."""
    parts = []
    for name, value in members.items():
        filename, content = (f'; filename="{value[0]}"', value[1]) if isinstance(value, tuple) else ("", value.encode())
        header = data.draw(st.sampled_from(["Content-Disposition", "content-disposition"]))
        more = data.draw(st.sampled_from(["", "Content-Type: text/plain; charset=utf-8\r\n"]))
        padding = data.draw(st.sampled_from(["", " ", " \t"]))
        parts.append(
            f'--{boundary}{padding}\r\n{more}{header}: form-data; name="{name}"{filename}\r\n\r\n'.encode() + content
        )
    preamble, epilogue = (
        data.draw(st.sampled_from([b"", b"preamble\r\n"])),
        data.draw(st.sampled_from([b"", b"\r\n", b"\r\nepilogue"])),
    )
    return preamble + b"\r\n".join(
        parts
    ) + f"\r\n--{boundary}--".encode() + epilogue, f'multipart/form-data; boundary="{boundary}"'


def shown(answer: Any) -> tuple[int, Any]:
    """The status of an answer, and its members that a form may set, or its errors."""
    names = ("part_number", "comments", "u_height", "is_full_depth")
    return answer.status_int, {name: answer.json[name] for name in names} if answer.status_int == 201 else answer.json


def is_apart(boundary: str, members: dict[str, str]) -> bool:
    """The boundary is well-formed and does not occur in what it divides."""
    return not any(boundary in f"{name}{value}" for name, value in members.items()) and boundary.strip("-") != ""


@settings(max_examples=40)
@given(texts, texts, st.integers(0, 3), st.booleans(), boundaries, st.data())
@example("[x]", "{", 1, True, "limit", None)
@pytest.mark.night
def test_a_form_is_taken_as_the_same_object_in_json(
    service: Service, maker: str, number: str, comments: str, height: int, deep: bool, boundary: str, data: Any
) -> None:
    members = {
        "part_number": number,
        "comments": comments,
        "u_height": str(height),
        "is_full_depth": str(deep).lower(),
    }
    fixed = {"manufacturer": maker}
    as_json = service.api.send("POST", TYPES, {**fixed, **members, "model": service.unique()})
    form = {**fixed, **members, "model": service.unique()}
    pairs = service.api.send(
        "POST", TYPES, urlencode(form).encode(), headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert shown(pairs) == shown(as_json)
    if data is None:
        return
    form["model"] = service.unique()
    body, content_type = encoded(form, boundary, data)  # drawn in any case: ids in the form differ from run to run
    if is_apart(boundary, form):
        assert shown(service.api.send("POST", TYPES, body, headers={"Content-Type": content_type})) == shown(as_json)


@settings(max_examples=20)
@given(st.binary(max_size=200), st.text("ab .-_äß/\\%'", min_size=1, max_size=20), st.data())
def test_a_file_is_kept_as_it_was_sent(
    service: Service, maker: str, tail: bytes, name: str, data: st.DataObject
) -> None:
    content = png() + tail  # readers of pictures stop at its end
    filename = name.replace("\\", "\\\\")
    members = {"manufacturer": maker, "model": service.unique(), "front_image": (f"{filename}.png", content)}
    body, content_type = encoded(members, "0" * 70, data)
    made = service.api.send("POST", TYPES, body, headers={"Content-Type": content_type}, status=201).json
    path = made["front_image"].removeprefix("http://localhost")
    assert service.api.send("GET", path, version=None, status=200).body == content
    assert Path(path).name.isascii()

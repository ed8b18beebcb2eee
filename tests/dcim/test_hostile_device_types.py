"""Archives and files of device types that are made to break the import page: each is refused with its reason."""

from __future__ import annotations

import io
import random
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import webtest

from netinv_dcim.device_type_library import MAX_PARTS, MAX_SIZE, archives
from netinv_dcim.device_type_library.yaml_reader import VALUES
from netinv_testing.hangs import no_hang
from netinv_web.testing import Browser, BrowserPage
from tests.support.images import png

pytestmark = pytest.mark.any_database  # files, of which nothing is written

PAGE = "/dcim/device-types/import/"
TYPE = b"manufacturer: Hostile\nmodel: One\n"
NONE = "The files hold no device types"
Files = Mapping[str, bytes]


def zipped(files: Files, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packing) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(names: Mapping[str, bytes], content: bytes = TYPE) -> bytes:
    """A compressed tar file with members of types."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, kind in names.items():
            member = tarfile.TarInfo(name)
            member.type, member.size = kind, len(content) if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def interfaces(count: int) -> bytes:
    """The lines of interfaces."""
    return b"interfaces:\n" + b"".join(b"- {name: e%d, type: virtual}\n" % number for number in range(count))


def anchored(first: str, next_: str, count: int) -> bytes:
    """A type with values that refer to each other."""
    lines = [f"x{number}: &x{number} {next_.replace('*', f'*x{number - 1}')}\n" for number in range(1, count)]
    return TYPE + f"x0: &x0 {first}\n{''.join(lines)}".encode()


def upload(browser: Browser, files: Files) -> BrowserPage:
    """The answer to files, within a bound of time."""
    form = browser.get(PAGE).form()
    form["file"] = [webtest.Upload(name, content) for name, content in files.items()]
    with no_hang(list(files)):
        return form.submit("_step", status="*")


REFUSED: Mapping[str, tuple[Callable[[], Files], str]] = {
    "long name": (lambda: {"a.zip": zipped({"x" * 300 + ".yaml": TYPE})}, archives.BAD_NAME),
    "long folder": (lambda: {"a.zip": zipped({"x" * 300 + "/a.yaml": TYPE})}, archives.BAD_NAME),
    "long name of a file": (lambda: {"x" * 300 + ".yaml": TYPE}, archives.BAD_NAME),
    "control characters": (lambda: {"a.zip": zipped({"a\x1b[2J.yaml": TYPE})}, archives.BAD_NAME),
    "folders of a zip file": (
        lambda: {"a.zip": zipped({f"{number}/": b"" for number in range(archives.MAX_ENTRIES + 1)})},
        "The file holds more than 40,000 entries",
    ),
    "folders of a tar file": (
        lambda: {"a.tgz": tarred({f"{number}": tarfile.DIRTYPE for number in range(archives.MAX_ENTRIES + 1)})},
        "a.tgz holds more than 40,000 entries",
    ),
    "LZMA": (lambda: {"a.zip": zipped({"a.yaml": TYPE}, zipfile.ZIP_LZMA)}, "its compression is not the usual one"),
    "bzip2": (lambda: {"a.zip": zipped({"a.yaml": TYPE}, zipfile.ZIP_BZIP2)}, "its compression is not the usual one"),
    "components": (
        lambda: {
            "a.zip": zipped({f"{number}.yaml": b"%b%d\n%b" % (TYPE[:-1], number, interfaces(25_500)) for number in range(2)})
        },
        f"more than {MAX_PARTS:,} components",
    ),
    "bytes": (
        lambda: {
            "a.zip": zipped(
                {f"{number}.yaml": TYPE + b"#" + random.Random(number).randbytes(400_000).hex().encode() for number in range(12)}
            )
        },
        f"more than {MAX_SIZE >> 20} MiB together",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.night
def test_an_upload_that_is_made_to_break_is_refused_with_the_reason(browser: Browser, case: str) -> None:
    make, reason = REFUSED[case]
    page = upload(browser, make())
    assert page.status_int == 422 and reason in page.words


FAULTY: Mapping[str, tuple[bytes, str]] = {
    "aliases": (anchored("[1,1,1,1,1,1,1,1,1,1]", "[*,*,*,*,*,*,*,*,*,*]", 9), f"it has more than {VALUES:,} values"),
    "aliases of a long text": (
        TYPE + b"x: &x " + b"k" * 500_000 + b"\ny: [" + b",".join([b"*x"] * 50_000) + b"]\n",
        f"it has more than {VALUES:,} values",
    ),
    "levels of aliases": (anchored("[1]", "[*]", 500), "it nests too deep"),
    "a list in itself": (TYPE + b"x: &a [*a]\n", "nothing is called a"),
    "a mapping in itself": (TYPE + b"x: &a {b: *a}\n", "nothing is called a"),
    "levels": (TYPE + b"x: " + b"[" * 60_000, "it nests too deep"),
    "digits": (TYPE + b"u_height: " + b"9" * 100_000, "A valid integer is required"),
    "exponent": (TYPE + b"u_height: 1e999999999\n", "A valid integer is required"),
    "long model": (b"manufacturer: Hostile\nmodel: " + b"m" * 900_000, "no more than"),
}


@pytest.mark.parametrize("case", FAULTY)
def test_a_file_that_is_made_to_break_is_refused_beside_others(browser: Browser, case: str) -> None:
    content, reason = FAULTY[case]
    page = upload(browser, {"a.yaml": content, "b.yaml": b"manufacturer: Hostile\nmodel: Two\n"})
    assert page.status_int == 200 and reason in page.words and "device type1 refused, 1 created" in page.words


@pytest.mark.night
def test_names_of_values_without_a_field_are_kept_up_to_a_number(browser: Browser) -> None:
    page = upload(browser, {"a.yaml": TYPE + b"".join(b"k%d: 1\n" % number for number in range(60_000))})
    assert (
        "custom field99" not in page.words and "more than 100 names, or longer ones, have no field here" in page.words
    )


def test_names_of_files_lead_to_no_other_folder(browser: Browser, tmp_path: Path) -> None:
    """Browsers send names without folders, other clients what they like."""
    names = [f"{tmp_path}/z.front.png", "/netinv-outside.front.png", "../../b.front.png", "C:\\x\\c.front.png"]
    page = upload(browser, {"a.yaml": TYPE, **dict.fromkeys(names, png())})
    assert page.status_int == 200 and not any(Path(name).exists() for name in names[:2])
    listed = {item.get_text(strip=True) for item in page.html.select('[aria-label="Files"] tbody th')}
    assert listed == {"a.yaml", "z.front.png", "netinv-outside.front.png", "b.front.png", "c.front.png"}


def test_names_in_tar_files_that_are_no_text_are_replaced(browser: Browser) -> None:
    page = upload(browser, {"a.tgz": tarred({"m\udcff/a.yaml": tarfile.REGTYPE})})
    assert "m\N{REPLACEMENT CHARACTER}/a.yaml" in page.words and "device type1 created" in page.words

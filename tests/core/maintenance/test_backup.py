"""``netinv backup`` and ``netinv restore``: every object on an empty machine, on the same and on another database; what
is damaged or does not fit is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result
from sqlalchemy.engine import Engine

from netinv_admin import restore
from netinv_admin.commands.cli import cli
from netinv_core.backups import archive
from netinv_core.backups import writing as backup
from netinv_core.backups.archive import ArchiveError
from netinv_core.db.engine import engine_from
from netinv_core.main import make_app, registry_for
from netinv_core.storage import files
from netinv_extras.jobs.models import refresh
from netinv_testing import Api, Service
from tests.support.databases import DIALECT, empty_database, migrated_database
from tests.support.images import png, send
from tests.support.jobs import JOBS

pytestmark = pytest.mark.slow
TENANTS = "/api/tenancy/tenants/"
SECRET = "a random text of more than 32 characters"
CHANGES_BY_READING = {"last_used", "last_login"}


@contextlib.contextmanager
def empty_machine(folder: Path, dialect: str) -> Iterator[Engine]:
    """A database without tables, of the dialect of this run, or SQLite."""
    folder.mkdir()
    if dialect == "sqlite" and DIALECT != "sqlite":
        engine = engine_from(f"sqlite:///{folder / 'other.sqlite'}")
        yield engine
        engine.dispose()
    else:
        with empty_database(folder) as engine:
            yield engine


def objects_of(service: Service, app: Any) -> dict[str, Any]:
    """Every object of every resource, as an administrator reads it."""
    api, found = Api(app, service.admin.token), {}
    for endpoint in service.registry.endpoints.values():
        page = api.get(endpoint.path, {"limit": 1000})
        assert page["next"] is None
        for item in page["results"]:
            kept = {name: value for name, value in item.items() if name not in CHANGES_BY_READING}
            found[f"{endpoint.label} {item.get('id') or json.dumps(item)}"] = kept
    return found


@pytest.fixture
def source(tmp_path: Path, database_template: str) -> Iterator[Service]:
    """A service with a database and files of its own."""
    folder = tmp_path / "source"
    folder.mkdir()
    with migrated_database(folder, database_template) as engine:
        settings = {**JOBS, "netinv.secret": SECRET, "netinv.media_root": str(folder / "media")}
        service = Service(engine, settings)
        service.examples["dcim.rackreservation"] = {"user": service.admin.id}
        yield service


def examples_of_jobs(service: Service) -> None:
    """Names the jobs that hooks and buttons can start."""
    with service.unit_of_work() as uow:
        refresh(uow)
    for label, name in {"extras.jobhook": "is_job_hook_receiver", "extras.jobbutton": "is_job_button_receiver"}.items():
        job = service.api.get("/api/extras/jobs/", {name: "true"})["results"][0]
        service.examples[label] = {"job": job["id"]}


@pytest.fixture
def other_machine(source: Service, tmp_path: Path) -> Iterator[tuple[Engine, Any]]:
    """An empty machine: its database, and a registry with its settings."""
    folder = tmp_path / "other"
    with empty_machine(folder, DIALECT) as engine, source.configured(media_root=str(folder / "media")):
        yield engine, source.registry


@pytest.mark.night
def test_every_object_is_restored_on_every_database(source: Service, tmp_path: Path) -> None:
    examples_of_jobs(source)
    for endpoint in source.registry.endpoints.values():
        source.population.objects(endpoint, 2)
    maker = source.api.post("/api/dcim/manufacturers/", {"name": "maker", "slug": "maker"})["id"]
    image = {"manufacturer": maker, "model": "with image", "front_image": ("front.png", png())}
    shown = send(source.api, "POST", "/api/dcim/device-types/", image, status=201).json["front_image"]
    before = objects_of(source, source.app)
    assert len(before) > 300
    engine, registry = source.engine, source.registry
    with contextlib.ExitStack() as machines:
        for number, dialect in enumerate(["sqlite"] if DIALECT == "sqlite" else ["sqlite", DIALECT]):
            file, folder = tmp_path / f"{number}.zip", tmp_path / f"machine{number}"
            backup.write(file, engine, registry)
            engine = machines.enter_context(empty_machine(folder, dialect))
            settings = {**source.settings, "media_root": str(folder / "media")}
            restore.restore(file, engine, registry_for(engine.dialect.name, settings), restore.Options())
            app = make_app(engine, settings)
            registry = app.registry.netinv
            assert objects_of(source, app) == before
        api = Api(app, source.admin.token)
        assert api.send("GET", shown.removeprefix("http://localhost"), status=200).body == png()
        api.post("/api/users/groups/", {"name": "after"})  # the numbers of new rows do not collide with restored ones
        hook = {"name": "after", "type_create": True}
        api.post(
            "/api/extras/webhooks/", {**hook, "content_types": ["tenancy.tenant"], "payload_url": "https://x.example/"}
        )
        api.post(TENANTS, {"name": "after"})
        deliveries = api.get("/api/extras/webhook-deliveries/", {"object_repr": "after"})
        assert deliveries["count"] == 1


@pytest.fixture
def file(source: Service, tmp_path: Path) -> Path:
    """A backup of a service with a few objects and an image."""
    source.api.post(TENANTS, {"name": "first"})
    maker = source.api.post("/api/dcim/manufacturers/", {"name": "maker", "slug": "maker"})["id"]
    image = {"manufacturer": maker, "model": "with image", "front_image": ("front.png", png())}
    send(source.api, "POST", "/api/dcim/device-types/", image, status=201)
    backup.write(tmp_path / "backup.zip", source.engine, source.registry)
    return tmp_path / "backup.zip"


def tables_of(engine: Engine) -> set[str]:
    return set(sa.inspect(engine).get_table_names())


def members_of(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as members:
        return {name: members.read(name) for name in members.namelist()}


def write_members(file: Path, members: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in members.items():
            target.writestr(name, content)


def with_manifest(file: Path, **values: Any) -> None:
    """Changes the manifest of a backup."""
    members = members_of(file)
    manifest = {**json.loads(members[archive.MANIFEST]), **values}
    write_members(file, {**members, archive.MANIFEST: json.dumps(manifest).encode()})


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1000])


def flip(file: Path) -> None:
    with zipfile.ZipFile(file) as members:
        largest = max(members.infolist(), key=lambda member: member.compress_size)
    content = bytearray(file.read_bytes())
    content[largest.header_offset + 200 + largest.compress_size // 2] ^= 0xFF
    file.write_bytes(content)


def replace_rows(file: Path) -> None:
    name = archive.member_of("tenancy_tenant")
    write_members(file, {**members_of(file), name: members_of(file)[name].replace(b"first", b"other")})


def lose_table(file: Path) -> None:
    members = members_of(file)
    write_members(file, {name: text for name, text in members.items() if "tenancy_tenant" not in name})


DAMAGES: Mapping[str, Callable[[Path], Any]] = {
    "cut": cut,
    "a flipped byte": flip,
    "other rows": replace_rows,
    "a lost table": lose_table,
    "no backup": lambda file: file.write_text("no backup"),
    "empty": lambda file: file.write_text(""),
    "another zip": lambda file: write_members(file, {"x": b"y"}),
    "no manifest": lambda file: write_members(file, {archive.MANIFEST: b"[]"}),
}
MISFITS: Mapping[str, tuple[dict[str, Any], str]] = {
    "format": ({"format": 2}, "has the format 2; this release reads format 1"),
    "revision": ({"revisions": {"core": ["core_9999"]}}, "has revision core_9999 of core, and the installed packages"),
    "package": ({"revisions": {"floor": ["floor_0001"]}}, "has tables of floor, which is not installed"),
    "secret": ({"secret": "0"}, "made with another netinv.secret"),
}


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.night
def test_a_damaged_backup_is_refused_and_nothing_is_changed(file: Path, other_machine: Any, kind: str) -> None:
    DAMAGES[kind](file)
    with pytest.raises(ArchiveError, match="damaged"):
        restore.restore(file, *other_machine, restore.Options())
    assert tables_of(other_machine[0]) == set()


@pytest.mark.night
@pytest.mark.parametrize("kind", MISFITS)
def test_a_backup_that_does_not_fit_is_refused_and_nothing_is_changed(
    file: Path, other_machine: Any, kind: str
) -> None:
    values, reason = MISFITS[kind]
    with_manifest(file, **values)
    with pytest.raises(ArchiveError, match=reason):
        restore.restore(file, *other_machine, restore.Options())
    assert tables_of(other_machine[0]) == set()


@pytest.mark.night
def test_a_file_is_never_written_outside_of_the_folder(file: Path, other_machine: Any, tmp_path: Path) -> None:
    members = members_of(file)
    manifest = json.loads(members[archive.MANIFEST])
    manifest["files"]["../escaped.png"] = {"size": 1, "sha256": hashlib.sha256(b"x").hexdigest()}
    text = json.dumps(manifest).encode()
    write_members(file, {**members, "files/../escaped.png": b"x", archive.MANIFEST: text})
    with pytest.raises(ArchiveError, match="not the name of a stored file"):
        restore.restore(file, *other_machine, restore.Options())
    assert not (tmp_path / "other" / "escaped.png").exists()


@pytest.mark.night
def test_a_target_that_holds_something_is_replaced_on_purpose_only(file: Path, source: Service) -> None:
    source.api.post(TENANTS, {"name": "later"})
    kept = Path(source.settings["media_root"]) / "devicetype-images" / "kept.png"
    kept.write_bytes(b"x")
    with pytest.raises(ArchiveError, match="is not empty; --replace empties it"):
        restore.restore(file, source.engine, source.registry, restore.Options())
    assert source.api.get(TENANTS)["count"] == 2 and kept.exists()
    restore.restore(file, source.engine, source.registry, restore.Options(replace=True))
    assert [item["name"] for item in source.api.get(TENANTS)["results"]] == ["first"] and not kept.exists()


def test_a_restore_that_fails_leaves_the_rows_as_they_were(
    file: Path, source: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.api.post(TENANTS, {"name": "later"})

    def fail(*arguments: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(files, "write", fail)
    with pytest.raises(OSError, match="no space left"):
        restore.restore(file, source.engine, source.registry, restore.Options(replace=True))
    assert source.api.get(TENANTS)["count"] == 2
    source.api.post(TENANTS, {"name": "still written"})


@pytest.mark.night
def test_rows_that_refer_to_missing_ones_are_refused(file: Path, other_machine: Any) -> None:
    members = members_of(file)
    manifest = json.loads(members[archive.MANIFEST])
    manifest["tables"]["dcim_manufacturer"] |= {"rows": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    text = json.dumps(manifest).encode()
    write_members(file, {**members, archive.member_of("dcim_manufacturer"): b"", archive.MANIFEST: text})
    with pytest.raises((ArchiveError, sa.exc.IntegrityError)):
        restore.restore(file, *other_machine, restore.Options())


def test_a_backup_shows_one_state_while_others_write(source: Service, tmp_path: Path) -> None:
    def write(table: str) -> None:
        if table == "tenancy_tenant":  # the snapshot was taken with the first table
            source.api.post(TENANTS, {"name": "meanwhile"})

    backup.write(tmp_path / "x.zip", source.engine, source.registry, write)
    assert b"meanwhile" not in b"".join(members_of(tmp_path / "x.zip").values())
    assert source.api.get(TENANTS)["count"] == 1


@pytest.mark.night
def test_the_secret_is_not_in_the_backup(file: Path) -> None:
    assert SECRET.encode() not in b"".join(members_of(file).values())
    assert file.stat().st_mode & 0o777 == 0o600


# -- the commands


@pytest.fixture
def run(source: Service, tmp_path: Path) -> Callable[..., Result]:
    """``run(*words, name=value)``: the result of a command with the settings of the service, and these."""

    def run(*words: str, **settings: str) -> Result:
        url = source.engine.url.render_as_string(hide_password=False)
        given = {"database_url": url, "secret": SECRET, "media_root": source.settings["media_root"], **settings}
        lines = "".join(f"netinv.{name} = {value}\n" for name, value in given.items())
        parts = "".join(f"[{name}]\nkeys =\n" for name in ("handlers", "formatters"))
        ini = tmp_path / "x.ini"
        loggers = f"[loggers]\nkeys = root\n[logger_root]\nhandlers =\n{parts}"
        ini.write_text(f"[app:main]\nuse = egg:netinv-core\n{lines}{loggers}")
        return CliRunner().invoke(cli, ["-c", str(ini), *words])

    return run


@pytest.mark.night
def test_a_backup_without_the_right_secret_is_marked_and_told(
    run: Callable[..., Result], source: Service, unique: Any, tmp_path: Path
) -> None:
    source.api.send("POST", "/api/dcim/regions/", {"name": unique()}, status=201, headers={"Idempotency-Key": unique()})
    other = {"secret": "another text of more than 32 characters"}
    marked = tmp_path / "marked.zip"
    made = run("backup", str(marked), **other)
    assert made.exit_code == 0 and "netinv.secret decrypts nothing" in made.output
    for settings in ({}, other):
        refused = run("restore", "--check", str(marked), **settings)
        assert refused.exit_code == 1 and "set the secret that was used before" in refused.output
        taken = run("restore", "--check", "--any-secret", str(marked), **settings)
        assert taken.exit_code == 0, taken.output


@pytest.mark.night
def test_the_commands_say_what_they_did(run: Callable[..., Result], file: Path, tmp_path: Path) -> None:
    made = run("backup", str(tmp_path / "made.zip"))
    assert made.exit_code == 0 and "tables, 1 files" in made.output, made.output
    again = run("backup", str(tmp_path / "made.zip"))
    assert again.exit_code == 1 and "exists already" in again.output
    refused = run("restore", str(tmp_path / "made.zip"))
    assert (
        refused.exit_code == 1 and refused.output.startswith("Error: the database ") and refused.output.count("\n") == 1
    )
    checked = run("restore", "--check", str(file))
    assert checked.exit_code == 0 and "is whole and fits" in checked.output
    other = run("restore", "--check", str(file), secret="another text of more than 32 characters")
    assert other.exit_code == 1 and "another netinv.secret" in other.output
    assert run("restore", "--replace", str(file)).output.startswith(f"restored {file}: ")

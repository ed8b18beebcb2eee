"""Device types from a Git repository: a sync imports them, later ones update them, and used ones stay."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from netinv_dcim.device_type_library import git_source
from netinv_dcim.device_type_library.git_source import IN_USE
from netinv_testing import Service
from netinv_web.testing import Browser
from tests.support.device_type_files import MAKERS, TYPES
from tests.support.git_remotes import Remote
from tests.support.git_services import CHANGES, REPOSITORIES, add, remote, service, synced
from tests.support.images import png

FIXTURES = (add, remote, service, synced)
PROVIDED = {"provided_contents": ["dcim.devicetype"]}


@pytest.fixture
def maker(service: Service) -> str:
    """The name of a manufacturer that nothing else in the database has."""
    return f"Maker {service.unique()}"


def described(maker: str, model: str, more: str = "") -> str:
    """The file of a type."""
    return f"manufacturer: {maker}\nmodel: {model}\nslug: {maker.lower().replace(' ', '-')}-{model}\n{more}"


def ports(*names: str) -> str:
    """Interfaces, as a file has them."""
    return "interfaces:\n" + "".join(f"  - {{name: {name}, type: 1000base-t}}\n" for name in names)


def types(service: Service, maker: str) -> dict[str, Any]:
    """The types of a manufacturer by model."""
    found = service.api.get(TYPES, {"limit": 0, "q": maker})["results"]
    return {item["model"]: item for item in found if item["manufacturer"]["name"] == maker}


def interfaces(service: Service, device_type: Any) -> list[str]:
    """The names of the interface templates of a type."""
    query = {"devicetype_id": device_type["id"], "limit": 0}
    return sorted(port["name"] for port in service.api.get("/api/dcim/interface-templates/", query)["results"])


def counts(outcome: Any) -> tuple[int, ...]:
    """Created, updated, deleted, unchanged."""
    return tuple(outcome[name] for name in ("created", "updated", "deleted", "unchanged"))


def install(service: Service, device_type: Any) -> Any:
    """A device of a type."""
    api, word = service.api, service.unique()
    site = api.post("/api/dcim/sites/", {"name": word, "status": "active"})
    role = api.post("/api/dcim/device-roles/", {"name": word})
    body = {"device_type": device_type["id"], "device_role": role["id"], "site": site["id"], "status": "active"}
    return api.post("/api/dcim/devices/", {**body, "name": word})


@pytest.mark.night
def test_a_sync_imports_types_with_components_and_pictures_and_a_second_changes_nothing(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str
) -> None:
    slug = maker.lower().replace(" ", "-")
    head = remote.write(
        {
            f"device-types/{maker}/a.yaml": described(maker, "a", f"front_image: true\n{ports('e1', 'e2')}"),
            f"device-types/{maker}/b.yml": described(maker, "b", "u_height: 2\n"),
            f"elevation-images/{maker}/{slug}-a.front.png": png(),
            f"module-types/{maker}/m.yaml": "{",
            "device-types/README.md": "no type",
        }
    )
    repository = add(remote, **PROVIDED)
    outcome = synced(repository)
    assert (outcome["state"], outcome["refused"], outcome["notes"], outcome["head"]) == ("succeeded", [], [], head)
    assert counts(outcome) == (3, 0, 0, 0)
    assert [(item["object_type"], item["name"], item["outcome"]) for item in outcome["objects"]] == [
        ("dcim.manufacturer", maker, "created"),
        ("dcim.devicetype", f"{maker} a", "created"),
        ("dcim.devicetype", f"{maker} b", "created"),
    ]
    made = types(service, maker)
    assert made["a"]["front_image"] and made["b"]["u_height"] == 2
    assert interfaces(service, made["a"]) == ["e1", "e2"]
    recorded = service.api.get(CHANGES, {"limit": 1})["count"]
    assert counts(synced(repository)) == (0, 0, 0, 2)
    assert service.api.get(CHANGES, {"limit": 1})["count"] == recorded


@pytest.mark.night
def test_a_newer_commit_updates_what_changed_and_names_the_components_that_stay(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str
) -> None:
    path = f"device-types/{maker}/a.yaml"
    remote.write(
        {path: described(maker, "a", ports("e1", "e2")), f"device-types/{maker}/b.yaml": described(maker, "b")}
    )
    repository = add(remote, **PROVIDED)
    synced(repository)
    remote.write({path: described(maker, "a", ports("e2", "e3"))})
    outcome = synced(repository)
    assert (outcome["state"], *counts(outcome)) == ("succeeded", 0, 1, 0, 1)
    assert outcome["objects"] == [{"object_type": "dcim.devicetype", "name": f"{maker} a", "outcome": "updated"}]
    assert interfaces(service, types(service, maker)["a"]) == ["e1", "e2", "e3"]
    assert outcome["notes"] == [{"file": path, "note": "e1: not in the file, and stays"}]
    page = Browser(service, service.admin).get(f"/extras/git-repositories/{repository['id']}/", status=200)
    assert f"{path}: e1: not in the file, and stays" in page.words


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("u_height: tall\n", "line 4: u_height is tall: A valid integer is required."),
        (
            "interfaces:\n  - {name: e1, type: virtual}\n  - name: e2\n    mgmt_only: perhaps\n",
            "e2: line 7: mgmt_only is perhaps",
        ),
        (
            "interfaces:\n  - {name: e1}\n  - {type: virtual}\n",
            "interfaces 2, line 6: a mapping with a name is expected",
        ),
        ("device-bays:\n  - {name: bay}\n", "bay: line 5: Subdevice role of device type (bad)"),
        ("subdevice_role: child\nu_height: 1\n", "line 5: u_height: Child device types must be 0U."),
        ("interfaces: [{\n", "line 5, column 1: "),
    ],
)
def test_a_file_with_an_error_is_refused_with_its_line_and_nothing_of_it_is_imported(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str, more: str, reason: str
) -> None:
    bad, good = f"device-types/{maker}/bad.yaml", f"device-types/{maker}/good.yaml"
    remote.write({bad: described(maker, "bad", more), good: described(maker, "good", ports("e1"))})
    outcome = synced(add(remote, **PROVIDED))
    assert outcome["state"] == "incomplete" and counts(outcome) == (2, 0, 0, 0)
    (refused,) = outcome["refused"]
    assert refused["file"] == bad and reason in refused["reason"]
    made = types(service, maker)
    assert list(made) == ["good"] and interfaces(service, made["good"]) == ["e1"]


@pytest.mark.night
def test_a_type_whose_file_is_gone_is_deleted_unless_it_is_used(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str
) -> None:
    files = {f"device-types/{maker}/{model}.yaml": described(maker, model, ports("e1")) for model in "abc"}
    remote.write(files)
    repository = add(remote, **PROVIDED)
    synced(repository)
    device = install(service, types(service, maker)["a"])
    remote.write(dict.fromkeys(list(files)[:2]))
    outcome = synced(repository)
    assert (outcome["state"], *counts(outcome)) == ("succeeded", 0, 0, 1, 1)
    assert outcome["objects"] == [{"object_type": "dcim.devicetype", "name": f"{maker} b", "outcome": "deleted"}]
    assert outcome["notes"] == [{"file": f"{maker} a", "note": IN_USE}]
    assert list(types(service, maker)) == ["a", "c"]
    service.api.delete(device["url"])
    assert (counts(synced(repository)), list(types(service, maker))) == ((0, 0, 1, 1), ["c"])


def test_nothing_is_deleted_while_a_file_is_refused(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str
) -> None:
    remote.write({f"device-types/{maker}/{model}.yaml": described(maker, model) for model in "ab"})
    repository = add(remote, **PROVIDED)
    synced(repository)
    remote.write({f"device-types/{maker}/a.yaml": "{", f"device-types/{maker}/b.yaml": None})
    outcome = synced(repository)
    assert (outcome["state"], outcome["deleted"], list(types(service, maker))) == ("incomplete", 0, ["a", "b"])


def test_types_of_users_are_updated_and_never_deleted(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str
) -> None:
    made = service.api.post(MAKERS, {"name": maker})
    mine = service.api.post(TYPES, {"manufacturer": made["id"], "model": "mine", "part_number": "1"})
    path = f"device-types/{maker}/mine.yaml"
    remote.write({path: described(maker, "mine", "u_height: 3\n")})
    repository = add(remote, **PROVIDED)
    assert counts(synced(repository)) == (0, 1, 0, 0)
    shown = service.api.get(mine["url"])
    assert (shown["u_height"], shown["part_number"]) == (3, "1")
    remote.write({path: None})
    assert counts(synced(repository)) == (0, 0, 0, 0)
    assert list(types(service, maker)) == ["mine"]


def test_types_stay_when_their_repository_is_deleted(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str
) -> None:
    remote.write({f"device-types/{maker}/a.yaml": described(maker, "a")})
    repository = add(remote, **PROVIDED)
    synced(repository)
    service.api.delete(REPOSITORIES, [{"id": repository["id"]}])
    assert list(types(service, maker)) == ["a"]


def test_names_that_no_file_can_have_are_refused(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str
) -> None:
    long = "x" * 220
    remote.write(
        {
            f"device-types/{maker}/a: b.yaml": described(maker, "a"),
            f"device-types/{maker}/{long}.yaml": described(maker, "b"),
            f"device-types/{maker}/c.yaml": described(maker, "c"),
        }
    )
    outcome = synced(add(remote, **PROVIDED))
    assert sorted(item["file"] for item in outcome["refused"]) == [
        f"device-types/{maker}/a: b.yaml",
        f"device-types/{maker}/{long}.yaml",
    ]
    assert list(types(service, maker)) == ["c"]


def test_pictures_beyond_the_size_of_a_fetch_are_left_out_and_the_types_imported(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str, configured: Any
) -> None:
    remote.write(
        {
            f"device-types/{maker}/a.yaml": described(maker, "a"),
            f"elevation-images/{maker}/a.front.png": bytes(9 << 20),
        }
    )
    repository = add(remote, **PROVIDED)
    with configured(git_max_size=8 << 20):
        outcome = synced(repository)
    assert (outcome["state"], list(types(service, maker))) == ("incomplete", ["a"])
    assert outcome["refused"] == [
        {
            "file": "elevation-images/",
            "reason": "its files are left out: more than 50,000, or larger than 8 MiB together (netinv.git_max_size)",
        }
    ]


@pytest.mark.any_database
@pytest.mark.night
def test_pictures_larger_than_the_memory_of_a_sync_are_imported(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str
) -> None:
    """Forty pictures of 2 MB: more than the contents of other files may be, and than a sync holds at a time."""
    slug, models = maker.lower().replace(" ", "-"), [f"m{number:02}" for number in range(40)]
    picture = png() + bytes(2_000_000)
    remote.write(
        {f"device-types/{maker}/{model}.yaml": described(maker, model) for model in models}
        | {f"elevation-images/{maker}/{slug}-{model}.front.png": picture + model.encode() for model in models}
    )
    repository = add(remote, **PROVIDED)
    tracemalloc.start()
    try:
        outcome = synced(repository)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (outcome["state"], outcome["refused"], list(types(service, maker))) == ("succeeded", [], models)
    assert all(type_["front_image"] for type_ in types(service, maker).values())
    assert most < 60 << 20, f"{most >> 20} MiB"


def test_a_repository_of_endless_components_is_refused_as_a_whole(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_source, "MAX_REPOSITORY_PARTS", 2)
    remote.write({f"device-types/{maker}/a.YAML": described(maker, "a", ports("e1", "e2"))})
    repository = add(remote, **PROVIDED)
    assert counts(synced(repository)) == (2, 0, 0, 0)
    remote.write({f"device-types/{maker}/b.yaml": described(maker, "b", ports("e1"))})
    outcome = synced(repository)
    assert (outcome["state"], list(types(service, maker))) == ("failed", ["a"])
    assert outcome["error"].startswith("The device types have more than 2 components.")


@pytest.mark.night
def test_the_number_of_statements_is_that_of_one_type(
    service: Service, remote: Remote, add: Any, synced: Any, maker: str
) -> None:
    def statements(models: str) -> int:
        remote.write({f"device-types/{maker}/{n}.yaml": described(maker, n, ports("e1", "e2")) for n in models})
        service.api.post(f"{repository['url']}sync/", status=200)
        with service.statements() as found:
            synced(repository, ask=False)
        return len(found)

    remote.write({f"device-types/{maker}/first.yaml": described(maker, "first", ports("e1"))})
    repository = add(remote, **PROVIDED)
    synced(repository)
    one = statements("a")
    assert statements("bcdefg") == one

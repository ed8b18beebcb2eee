"""The commands ``netinv plan`` and ``netinv apply``, over HTTP and in the database of the ini file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from netinv_admin.commands.cli import cli
from netinv_testing import Api, Service, Unique
from tests.support.http_server import served

SITES = "/api/dcim/sites/"


@pytest.fixture(scope="module")
def url(service: Service) -> Iterator[str]:
    """The address of the service."""
    with served(service.app) as address:
        yield address


@pytest.fixture
def run(service: Service, url: str, tmp_path: Path) -> Any:
    """``run("plan", "a.yaml", status=2)``: the output of a command in a folder of files, over HTTP."""

    def invoke(*words: str, status: int = 0, **options: Any) -> str:
        paths = [str(tmp_path / word) if word.endswith((".yaml", ".json")) else word for word in words]
        environment = {"NETINV_URL": url, "NETINV_TOKEN": service.admin.api.token}
        done: Result = CliRunner(env=environment).invoke(cli, paths, **options)
        assert done.exit_code == status, done.output
        return done.output

    return invoke


def test_a_plan_is_made_shown_and_applied(api: Api, run: Any, unique: Unique, tmp_path: Path) -> None:
    one, two = unique(), unique()
    (tmp_path / "a.yaml").write_text(f"owner: {one}\nobjects:\n  dcim.site:\n    - {{name: {one}, status: planned}}\n")
    (tmp_path / "b.json").write_text(json.dumps({"objects": {"dcim.site": [{"name": two, "status": "active"}]}}))
    output = run("plan", "a.yaml", "b.json", status=2)
    assert f"+ dcim.site {one}" in output and "2 to create, 0 to update, 0 to delete, 0 unchanged" in output
    assert api.get(SITES, {"name": [one, two]})["count"] == 0
    assert "Applied." in run("apply", "--plan", output.split()[-1])
    assert "0 to create" in run("plan", "a.yaml", "b.json") and "Applied" not in run("apply", "a.yaml", "b.json")
    (tmp_path / "a.yaml").write_text(f"owner: {one}\nobjects: {{dcim.site: [{{name: {one}, status: active}}]}}\n")
    shown = run("apply", "a.yaml", input="n\n", status=1)
    assert '    status: "planned" → "active"' in shown and f"- dcim.site {two}" in shown
    run("apply", "a.yaml", "--yes")
    (site,) = api.get(SITES, {"name": [one, two]})["results"]
    assert site["status"]["value"] == "active"
    assert json.loads(run("plan", "a.yaml", "--json"))["unchanged"] == 1


@pytest.mark.night
def test_errors_name_file_index_and_field_and_exit_with_1(api: Api, run: Any, unique: Unique, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("objects: {dcim.site: [{name: planned site, status: active}]}")
    (tmp_path / "b.yaml").write_text("objects: {dcim.site: [{name: another site, status: none}]}")
    assert "b.yaml: dcim.site[0]: status: Object with slug=none" in run("plan", "a.yaml", "b.yaml", status=1)
    (tmp_path / "c.yaml").write_text("- 1")
    assert "objects is expected" in run("plan", "c.yaml", status=1)
    run("plan", "missing.yaml", status=1)
    run("plan", status=1)
    run("plan", "a.yaml", "--wrong", status=1)
    assert "--url" in run("plan", "a.yaml", "--url", "", status=1)
    assert "refused" in run("plan", "a.yaml", "--url", "http://127.0.0.1:1", status=1)
    assert "Not found." in run("apply", "--plan", "00000000-0000-4000-8000-000000000000", status=1)
    name = unique()
    site = api.post(SITES, {"name": name, "status": "active"})
    (tmp_path / "d.yaml").write_text(f"objects: {{dcim.site: [{{name: {name}, status: planned}}]}}")
    key = run("plan", "d.yaml", status=2).split()[-1]
    api.patch(site["url"], {"facility": "x"})
    assert f"dcim.site {name}: facility by" in run("apply", "--plan", key, status=1)


def test_commands_use_the_database_as_a_user(service: Service, unique: Unique, tmp_path: Path) -> None:
    name, file, ini = unique(), tmp_path / "a.yaml", tmp_path / "netinv.ini"
    file.write_text(f"objects: {{dcim.site: [{{name: {name}, status: active}}]}}")
    url = service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    ini.write_text(
        f"[app:main]\nuse = egg:netinv-core\nnetinv.database_url = {url}\nnetinv.secret = {service.settings['secret']}\n"
    )
    words = ["-c", str(ini), "apply", str(file), "--yes", "--user", service.admin.username]
    done = CliRunner(env={"NETINV_URL": "", "NETINV_TOKEN": ""}).invoke(cli, words)
    assert done.exit_code == 0 and "Applied." in done.output, done.output
    assert service.api.get(SITES, {"name": name})["count"] == 1


def test_a_plan_is_proposed_in_a_new_or_open_change_request(api: Api, run: Any, unique: Unique, tmp_path: Path) -> None:
    title, one, two = f"Sites of {unique()}", unique(), unique()
    (tmp_path / "a.yaml").write_text(f"objects: {{dcim.site: [{{name: {one}, status: planned}}]}}")
    output = run("plan", "a.yaml", "--change-request", title, status=2)
    assert f"{title}: 1 to create, 0 to update, 0 to delete" in output
    key = output.strip().split("/")[-2]
    assert output.strip().endswith(f"/extras/change-requests/{key}/")
    (tmp_path / "b.json").write_text(json.dumps({"objects": {"dcim.site": [{"name": two, "status": "active"}]}}))
    shown = json.loads(run("plan", "b.json", "--change-request", key, "--json", status=2))
    assert (shown["id"], shown["title"], shown["creates"]) == (key, title, 2)
    assert api.get(SITES, {"name": [one, two]})["count"] == 0
    assert api.get(SITES, {"name": [one, two], "change_request": key})["count"] == 2
    api.post(SITES, {"name": one, "status": "planned"})
    assert "1 unchanged" in run("plan", "a.yaml", "--change-request", f"Again {title}")
    assert api.get("/api/extras/change-requests/", {"title": f"Again {title}"})["count"] == 0


@pytest.mark.parametrize(
    ("document", "target", "words"),
    [
        ("owner: me\nobjects: {dcim.site: [{name: Owned, status: active}]}", "Title", "with an owner"),
        ("objects: {dcim.site: [{name: Wrong, status: none}]}", "Title", "a.yaml: dcim.site[0]: status"),
        ("objects: {dcim.site: [{name: Right, status: active}]}", "x" * 201, "title"),
        ("objects: {dcim.site: [{name: Right, status: active}]}", "0" * 32, "change_request"),
    ],
)
def test_a_proposal_that_is_refused_says_why(
    api: Api, run: Any, tmp_path: Path, document: str, target: str, words: str
) -> None:
    (tmp_path / "a.yaml").write_text(document)
    assert words in run("plan", "a.yaml", "--change-request", target, status=1)
    assert api.get("/api/extras/change-requests/", {"title": target})["count"] == 0


def test_a_plan_is_proposed_to_a_service_only(service: Service, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("objects: {}")
    words = ["plan", str(tmp_path / "a.yaml"), "--user", "admin", "--change-request", "Title"]
    done = CliRunner().invoke(cli, words)
    assert (done.exit_code, "needs the address of the service" in done.output) == (1, True)

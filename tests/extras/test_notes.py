"""Notes: what they are about; the rest is in the contract and in the tests of permissions."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api

NOTES = "/api/extras/notes/"
NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def site(make: Any) -> Any:
    """A site."""
    return make("/api/dcim/sites/", status="active")


def test_a_note_is_about_an_object_that_is_there(api: Api, site: Any) -> None:
    body = {"assigned_object_type": "dcim.site", "assigned_object_id": site["id"], "note": "x"}
    made = api.post(NOTES, [body, body])
    assert [note["assigned_object"]["id"] for note in made] == [site["id"]] * 2 and made[0]["slug"] != made[1]["slug"]
    form = ["Invalid value. Specify a content type as '<app_label>.<model_name>'."]
    for label, told in (
        (NOBODY, form),
        (5, form),
        ("dcim.nothing", ["Invalid content type: dcim.nothing"]),
        ("auth.group", ["Invalid content type: auth.group"]),
    ):
        assert api.post(NOTES, body | {"assigned_object_type": label}, status=400) == {"assigned_object_type": told}
    told = [f"Related object not found using the provided ID: {NOBODY}"]
    assert api.post(NOTES, body | {"assigned_object_id": NOBODY}, status=400) == {"assigned_object_id": told}


def test_a_slug_that_is_not_sent_is_made_from_the_name_of_the_object(api: Api, site: Any, unique: Any) -> None:
    body, slug = {"assigned_object_type": "dcim.site", "assigned_object_id": site["id"], "note": "x"}, unique()
    made = api.post(NOTES, [body | {"slug": slug}, body, body])
    assert made[0]["slug"] == slug and all(note["slug"].startswith(f"{site['slug']}-") for note in made[1:])
    assert api.post(NOTES, body | {"slug": slug}, status=400) == {"slug": ["note with this slug already exists."]}
    blank = {"slug": ["This field may not be blank."]}
    assert (
        api.post(NOTES, body | {"slug": " "}, status=400)
        == api.patch(made[0]["url"], {"slug": ""}, status=400)
        == blank
    )
    assert api.patch(made[0]["url"], {"note": "y"})["slug"] == made[0]["display"] == slug


def test_their_types_are_found_by_number(api: Api, site: Any) -> None:
    note = api.post(NOTES, {"assigned_object_type": "dcim.site", "assigned_object_id": site["id"], "note": "x"})
    (change,) = api.get("/api/extras/object-changes/", {"changed_object_id": note["id"]})["results"]
    number = change["object_data"]["assigned_object_type"]
    assert [
        shown["id"]
        for shown in api.get(NOTES, {"assigned_object_type_id": number, "assigned_object_id": site["id"]})["results"]
    ] == [note["id"]]
    told = ["Select a valid choice. That choice is not one of the available choices."]
    assert api.get(NOTES, {"assigned_object_type_id": "abc"}, status=400) == {"assigned_object_type_id": told}


def test_options_say_what_notes_can_be_about(api: Api) -> None:
    choices = {
        item["value"]: item["display"]
        for item in api.options(NOTES)["actions"]["POST"]["assigned_object_type"]["choices"]
    }
    assert choices["dcim.site"] == "dcim | site" and "auth.group" not in choices

"""Pages about the account: profile, preferences, password, sessions, API tokens."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from netinv_testing import Account, Service
from netinv_web.testing import Browser
from tests.support.sign_in import sign_in_limits

pytestmark = pytest.mark.any_database  # pages over the resources of accounts

PASSWORD = "an old password"
TOKENS = ("view add delete", "users.token")
MakeUser = Callable[..., Account]


@pytest.fixture
def user(make_user: MakeUser) -> Account:
    """An account that may do nothing but use its own pages and tokens."""
    return make_user(TOKENS, password=PASSWORD)


@pytest.fixture
def browser(service: Service, user: Account) -> Browser:
    """The user's browser."""
    return Browser(service, user)


@pytest.mark.parametrize("path", ["profile", "preferences", "password", "sessions", "api-tokens", "api-tokens/add"])
def test_a_visitor_without_session_is_led_to_the_sign_in(service: Service, path: str) -> None:
    response = Browser(service).get(f"/user/{path}/", status=303)
    assert response.headers["Location"].startswith("/login/?next=")


@pytest.mark.parametrize("path", ["profile", "preferences", "password", "sessions", "api-tokens"])
def test_everybody_has_the_pages_about_the_own_account(service: Service, make_user: MakeUser, path: str) -> None:
    page = Browser(service, make_user(password=PASSWORD)).get(f"/user/{path}/", status=200)
    assert len(page.html.find_all("h1")) == 1
    assert page.html.select_one("nav.tabs a[aria-current=page]")["href"] == f"/user/{path}/"


# -- profile and preferences


def test_users_change_their_names_without_permission_on_accounts(
    service: Service, user: Account, browser: Browser
) -> None:
    form = browser.get("/user/profile/").form()
    form["first_name"], form["email"] = "Ada", "ada@example.com"
    page = form.submit(status=303).follow()
    assert "Your profile was changed." in page
    stored = service.api.get(f"/api/users/users/{user.id}/")
    assert (stored["first_name"], stored["email"]) == ("Ada", "ada@example.com")


def test_a_profile_with_a_bad_address_is_shown_again_with_the_error(browser: Browser) -> None:
    form = browser.get("/user/profile/").form()
    form["first_name"], form["email"] = "Ada", "nowhere"
    page = form.submit(status=422)
    assert page.html.select_one("#field-first_name")["value"] == "Ada"
    assert "Enter a valid email address." in page.html.select_one("#error-email").text


def test_a_profile_changes_nothing_but_names_and_address(service: Service, user: Account, browser: Browser) -> None:
    browser.post("/user/profile/", {"first_name": "Ada", "is_staff": "true", "username": "root"}, status=303)
    stored = service.api.get(f"/api/users/users/{user.id}/")
    assert (stored["username"], stored["is_staff"]) == (user.username, False)


def test_a_profile_lists_what_the_user_may_do(service: Service, make_user: MakeUser) -> None:
    user = make_user(("view change", "dcim.site"), ("view", "dcim.rack", {"name": "A1"}), password=PASSWORD)
    page = Browser(service, user).get("/user/profile/").html
    rights = {row.dt.text: row.dd.text for row in page.select("section.panel:nth-of-type(2) dl div")}
    assert rights["Sites"] == "change, view"
    assert "some objects" in rights["Racks"]


def test_preferences_are_kept_for_the_account(service: Service, user: Account, browser: Browser) -> None:
    form = browser.get("/user/preferences/").form()
    form["theme"], form["density"], form["per_page"], form["shortcuts"] = "dark", "compact", "100", False
    form.submit(status=303)
    page = Browser(service, user).get("/user/preferences/")
    assert (page.html.html["data-theme"], page.html.html["data-density"]) == ("dark", "compact")
    assert "data-no-shortcuts" in page.html.body.attrs
    assert page.html.select_one("#field-per_page option[selected]")["value"] == "100"


def test_a_preference_that_there_is_not_is_refused(browser: Browser) -> None:
    values = {"theme": "pink", "density": "compact", "per_page": "50"}
    page = browser.post("/user/preferences/", values, status=422)
    assert "pink is not one of the choices." in page.html.select_one("#error-theme").text
    browser.post("/user/preferences/", {**values, "theme": "dark", "per_page": "9" * 30}, status=422)


# -- password


def change_password(browser: Browser, current: str, new: str, again: str | None = None, status: int = 303) -> Any:
    form = browser.get("/user/password/").form()
    form["current"], form["password"], form["repeated"] = current, new, new if again is None else again
    return form.submit(status=status)


def test_a_new_password_ends_all_other_sessions_and_keeps_this_one(
    service: Service, user: Account, browser: Browser
) -> None:
    other = Browser(service, user)
    cookie = browser.cookies["netinv_session"]
    assert "Your password was changed" in change_password(browser, PASSWORD, "quartz newer violins").follow()
    assert browser.cookies["netinv_session"] != cookie
    other.get("/user/profile/", status=303)
    Browser(service).sign_in(user, "quartz newer violins")
    page = Browser(service).post("/login/", {"username": user.username, "password": PASSWORD}, status=403)
    assert "Invalid username/password." in page


@pytest.mark.parametrize(
    ("current", "new", "again", "field"),
    [
        ("a wrong one", "quartz newer violins", None, "current"),
        (PASSWORD, "quartz newer violins", "another", "repeated"),
        (PASSWORD, "x" * 129, None, "password"),
        (PASSWORD, "", None, "password"),
    ],
)
def test_a_password_is_changed_only_with_the_old_one_and_twice_the_same(
    service: Service, user: Account, browser: Browser, current: str, new: str, again: str | None, field: str
) -> None:
    page = change_password(browser, current, new, again, status=422)
    assert page.html.select_one(f"#error-{field}").text.strip() != ""
    assert {box.get("value", "") for box in page.html.select("input[type=password]")} == {""}
    Browser(service).sign_in(user)


def test_guessing_the_old_password_is_throttled(service: Service, browser: Browser) -> None:
    with sign_in_limits(service, sign_in_failures_pair=2):
        for _ in range(2):
            change_password(browser, "a guess", "quartz newer violins", status=422)
        response = change_password(browser, PASSWORD, "quartz newer violins", status=429)
        assert int(response.headers["Retry-After"]) > 0


@pytest.mark.parametrize("body", [{"password": "yet another one"}, {"is_active": False}])
def test_sessions_end_with_a_new_password_and_with_deactivation_by_the_api(
    service: Service, user: Account, browser: Browser, body: dict[str, Any]
) -> None:
    browser.get("/user/profile/", status=200)
    service.api.patch(f"/api/users/users/{user.id}/", body)
    service.api.patch(f"/api/users/users/{user.id}/", {"is_active": True})
    browser.get("/user/profile/", status=303)


def test_sessions_survive_other_changes_of_an_account(service: Service, user: Account, browser: Browser) -> None:
    service.api.patch(f"/api/users/users/{user.id}/", {"first_name": "Ada", "is_active": True})
    browser.get("/user/profile/", status=200)


def test_a_change_of_several_accounts_that_is_refused_ends_no_session(
    service: Service, user: Account, browser: Browser
) -> None:
    bodies = [{"id": user.id, "is_active": False}, {"id": service.admin.id, "username": "not valid!"}]
    service.api.patch("/api/users/users/", bodies, status=400)
    browser.get("/user/profile/", status=200)


# -- sessions


def test_one_session_is_ended_from_another_browser(service: Service, user: Account, browser: Browser) -> None:
    other = Browser(service, user)
    rows = browser.get("/user/sessions/").html.select("tbody tr")
    assert len(rows) == 2
    assert ["this browser" in row.text for row in rows].count(True) == 1
    (key,) = [row.button["value"] for row in rows if "this browser" not in row.text]
    assert "The session was ended." in browser.post("/user/sessions/", {"end": key}, status=303).follow()
    other.get("/user/profile/", status=303)
    browser.get("/user/profile/", status=200)


def test_all_other_sessions_are_ended_at_once(service: Service, user: Account, browser: Browser) -> None:
    others = [Browser(service, user) for _ in range(2)]
    browser.post("/user/sessions/", {"others": "1"}, status=303)
    for other in others:
        other.get("/user/profile/", status=303)
    browser.get("/user/profile/", status=200)


def test_signing_out_everywhere_ends_this_session_too(service: Service, user: Account, browser: Browser) -> None:
    other = Browser(service, user)
    assert browser.post("/user/sessions/", {"all": "1"}, status=303).headers["Location"] == "/login/"
    for one in (browser, other):
        one.get("/user/profile/", status=303)


def test_nobody_ends_the_session_of_another_user(service: Service, browser: Browser, make_user: MakeUser) -> None:
    victim = Browser(service, make_user(password=PASSWORD))
    key = victim.get("/user/sessions/").html.select_one("tbody button")["value"]
    browser.post("/user/sessions/", {"end": key}, status=303)
    browser.post("/user/sessions/", {"end": "no id"}, status=303)
    victim.get("/user/profile/", status=200)


# -- API tokens


def add_token(browser: Browser, **values: Any) -> Any:
    form = browser.get("/user/api-tokens/add/").form()
    for name, value in values.items():
        form[name] = value
    return form.submit(status=200)


def test_the_key_of_a_new_token_is_shown_once_and_works(service: Service, browser: Browser) -> None:
    page = add_token(browser, description="a script", write_enabled=True, expires_in="30")
    key = page.html.select_one("#token-key").text
    assert f"Authorization: Token {key}" in page
    assert f'token="{key}"' in page.html.text
    assert page.headers["Cache-Control"] == "no-store"
    (token,) = service.api.get("/api/users/tokens/", {"description": "a script"}, token=key)["results"]
    assert token["write_enabled"] is True
    days = datetime.datetime.fromisoformat(token["expires"]) - datetime.datetime.now(datetime.UTC)
    assert days.days in (29, 30)
    listed = browser.get("/user/api-tokens/")
    assert "a script" in listed
    assert key not in listed


def test_a_token_of_the_general_form_has_its_key_on_the_answer_and_its_limits_on_its_page(service: Service) -> None:
    browser = Browser(service, service.admin)
    form = browser.get("/users/tokens/add/").form()
    description = service.unique()
    form["description"], form["allowed_networks"], form["actions"] = description, "192.0.2.0/24, 127.0.0.1", "view"
    page = form.submit(status=200)
    key = page.html.select_one("[data-copy]").text
    assert page.headers["Cache-Control"] == "no-store"
    (token,) = service.api.get("/api/users/tokens/", {"key": key, "include": "actions"})["results"]
    assert (token["description"], token["actions"]) == (description, ["view"])
    shown = browser.get(page.html.select_one("main a.button.primary")["href"])
    assert "192.0.2.0/24" in shown.html.select_one("main").text and key not in shown


def test_a_token_reads_only_unless_it_may_write(service: Service, browser: Browser) -> None:
    key = add_token(browser, description="reads").html.select_one("#token-key").text
    (token,) = service.api.get("/api/users/tokens/", {"description": "reads"}, token=key)["results"]
    assert (token["write_enabled"], token["expires"]) == (False, None)
    service.api.post("/api/users/tokens/", {}, token=key, status=403)


def test_a_token_is_limited_in_the_form_and_its_limits_are_listed(service: Service, browser: Browser) -> None:
    limits = {"allowed_networks": "127.0.0.0/8, ::1", "actions": "view", "object_types": "users.token\ndcim.site"}
    key = add_token(browser, description="limited", **limits).html.select_one("#token-key").text
    service.api.get("/api/dcim/racks/", token=key, status=403)
    (row,) = [row for row in browser.get("/user/api-tokens/").html.select("tbody tr") if "limited" in row.text]
    assert "from 127.0.0.0/8, ::1/128" in row.text and "object types users.token, dcim.site" in row.text


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"allowed_networks": "192.0.2.1/24"}, "allowed_networks"),
        ({"object_types": "dcim.nothing"}, "object_types"),
        ({"expires": "2001-01-01"}, "expires"),
        ({"expires": "soon"}, "expires"),
        ({"expires_in": "4000000000000"}, "expires_in"),
        ({"description": "x" * 201}, "description"),
    ],
)
def test_a_token_with_bad_values_is_not_created(browser: Browser, values: dict[str, str], field: str) -> None:
    page = browser.post("/user/api-tokens/add/", values, status=422)
    assert page.html.select_one(f"#error-{field}").text.strip() != ""


def test_a_token_is_deleted_and_refused_from_then_on(service: Service, browser: Browser) -> None:
    key = add_token(browser, description="to be deleted").html.select_one("#token-key").text
    (row,) = [row for row in browser.get("/user/api-tokens/").html.select("tbody tr") if "to be deleted" in row.text]
    browser.get(row.a["href"]).form().submit(status=303)
    service.api.get("/api/users/tokens/", token=key, status=403)


def test_a_user_without_permission_is_told_so_in_place_of_the_form(service: Service, make_user: MakeUser) -> None:
    browser = Browser(service, make_user(password=PASSWORD))
    page = browser.get("/user/api-tokens/")
    assert "users.token" in page.html.select_one(".notice").text
    assert page.html.select("a[href='/user/api-tokens/add/']") == []
    browser.get("/user/api-tokens/add/", status=403)
    browser.post("/user/api-tokens/add/", {}, status=403)


def test_the_setting_for_token_writers_is_named_to_those_it_excludes(browser: Browser, configured: Any) -> None:
    with configured(token_writers="superusers"):
        assert "superusers alone" in browser.get("/user/api-tokens/").html.select_one(".notice").text
        browser.get("/user/api-tokens/add/", status=403)


def test_nobody_deletes_the_token_of_another_user(service: Service, browser: Browser) -> None:
    (token, *_) = service.api.get("/api/users/tokens/")["results"]
    browser.get(f"/user/api-tokens/{token['id']}/delete/", status=404)
    browser.post(f"/user/api-tokens/{token['id']}/delete/", status=404)
    browser.get("/user/api-tokens/nonsense/delete/", status=404)

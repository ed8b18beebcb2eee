"""Who asks: tokens, passwords, and how both are kept."""

from __future__ import annotations

import base64
import copy
import datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core import crypto
from netinv_core import settings as known_settings
from netinv_core.auth.models import Token, User
from netinv_core.confidential import refuse_confidential
from netinv_core.main import registry_for
from netinv_core.models.base import Base
from netinv_testing import Api, Service

TOKENS = "/api/users/tokens/"
TENANTS = "/api/tenancy/tenants/"
ALL = "view add change delete"


def detail(text: str) -> dict[str, str]:
    return {"detail": text}


def basic(username: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()}


# -- tokens


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("Token 0000000000000000000000000000000000000000", "Invalid token"),
        ("Token é", "Invalid token"),
        ("Token", "Invalid token header. No credentials provided."),
        ("Token a b", "Invalid token header. Token string should not contain spaces."),
        ("Bearer 0000000000000000000000000000000000000000", "Authentication credentials were not provided."),
        ("Basic eDp4", "Authentication credentials were not provided."),
        ("", "Authentication credentials were not provided."),
        ("   ", "Authentication credentials were not provided."),
    ],
)
def test_bad_credentials_are_told_apart(anonymous: Api, header: str, text: str) -> None:
    for method in ("GET", "POST", "OPTIONS"):
        assert anonymous.send(
            method, TENANTS, headers={"Authorization": header.encode().decode("latin-1")}, status=403
        ).json == detail(text)


def test_the_word_token_may_be_written_in_any_case(service: Service, anonymous: Api) -> None:
    for word in ("token", "TOKEN", "Token "):
        anonymous.get("/api/", headers={"Authorization": f"{word} {service.admin.token}"})


def test_a_token_ends_when_it_expires(make_user: Any) -> None:
    now = datetime.datetime.now(datetime.UTC)
    assert make_user(superuser=True, expires=now - datetime.timedelta(seconds=1)).api.get(
        TENANTS, status=403
    ) == detail("Token expired")
    make_user(superuser=True, expires=now + datetime.timedelta(minutes=5)).api.get(TENANTS)


def test_an_inactive_user_is_refused(make_user: Any) -> None:
    assert make_user(superuser=True, active=False).api.get(TENANTS, status=403) == detail("User inactive")


def test_deactivating_a_user_works_at_once(api: Api, make_user: Any) -> None:
    account = make_user(superuser=True)
    account.api.get(TENANTS)
    api.patch(f"/api/users/users/{account.id}/", {"is_active": False})
    assert account.api.get(TENANTS, status=403) == detail("User inactive")


def test_a_deleted_token_is_no_longer_known(make_user: Any) -> None:
    mine = make_user((ALL, "users.token"))
    (found,) = mine.api.get(TOKENS)["results"]
    mine.api.delete(f"{TOKENS}{found['id']}/")
    assert mine.api.get(TOKENS, status=403) == detail("Invalid token")


def test_everyone_has_their_own_tokens_only(api: Api, make_user: Any) -> None:
    mine, other = make_user((ALL, "users.token")), make_user((ALL, "users.token"))
    (found,) = mine.api.get(TOKENS)["results"]
    assert found["display"] == f"{found['id'][:8]} ({mine.username})"
    for client in (api, other.api):
        client.get(f"{TOKENS}{found['id']}/", status=404)
        client.patch(f"{TOKENS}{found['id']}/", {"description": "x"}, status=404)
        client.delete(f"{TOKENS}{found['id']}/", status=404)


def test_a_key_is_made_or_given(make_user: Any) -> None:
    mine = make_user((ALL, "users.token"))
    made = mine.api.post(TOKENS, {"description": "t"})
    assert len(made["key"]) == 40 and set(made["key"]) <= set("0123456789abcdef")
    assert (made["write_enabled"], made["expires"], made["description"]) == (True, None, "t")
    given = crypto.new_key()
    assert mine.api.post(TOKENS, {"key": given})["key"] == given
    assert mine.api.post(TOKENS, {"key": given}, status=400) == {"key": ["Token with this Key already exists."]}
    mine.api.get(TOKENS, token=given)


def test_a_given_key_is_forty_hexadecimal_digits_of_either_case(make_user: Any) -> None:
    mine = make_user((ALL, "users.token"))
    given = crypto.new_key()
    assert mine.api.post(TOKENS, {"key": given.upper()})["key"] == given
    for sent in (given, given.upper()):
        mine.api.get(TOKENS, token=sent)
        assert mine.api.get(TOKENS, {"key": sent})["count"] == 1
        assert mine.api.post(TOKENS, {"key": sent}, status=400) == {"key": ["Token with this Key already exists."]}
    for wrong, words in (
        ("abc", "Ensure this field has at least 40 characters."),
        ("0" * 41, "Ensure this field has no more than 40 characters."),
        ("g" * 40, "Enter 40 hexadecimal digits."),
        ("\N{ARABIC-INDIC DIGIT ONE}" * 40, "Enter 40 hexadecimal digits."),
        (["0" * 40], "Not a valid string."),
    ):
        assert mine.api.post(TOKENS, {"key": wrong}, status=400)["key"][0] == words
    for blank in ("", None):
        assert len(mine.api.post(TOKENS, {"key": blank})["key"]) == 40


def test_a_key_is_in_the_answer_that_makes_the_token_and_nowhere_else(
    api: Api, make_user: Any, service: Service, unique: Any
) -> None:
    mine = make_user((ALL, "users.token"), ("add view", ["extras.note", "extras.objectchange"]))
    made = mine.api.post(TOKENS, {"description": unique()})
    several = mine.api.post(TOKENS, [{"description": unique()}, {"description": unique()}])
    secrets = [item["key"] for item in (made, *several)]
    for token in (mine.token, made["key"]):
        answers = [
            mine.api.get(path, token=token)
            for path in (TOKENS, f"{TOKENS}?brief=1", made["url"], f"{TOKENS}?q={made['description']}")
        ]
        note = mine.api.post(
            "/api/extras/notes/",
            {"assigned_object_type": "users.token", "assigned_object_id": made["id"], "note": "x"},
            token=token,
        )
        answers += [
            note,
            mine.api.get("/api/extras/object-changes/", {"changed_object_id": note["id"]}),
            mine.api.get(note["url"]),
        ]
        assert not [
            key
            for key in [mine.token, *secrets]
            for hidden in (key, key[-6:], crypto.digest(key))
            if hidden in str(answers)
        ]
    assert mine.api.get(made["url"])["key"] is None
    assert "key" not in mine.api.get(f"{TOKENS}?brief=1")["results"][0]


def test_what_was_read_of_a_token_leaves_its_key_when_it_is_written_back(make_user: Any) -> None:
    mine = make_user((ALL, "users.token"))
    made = mine.api.post(TOKENS, {})
    shown = mine.api.get(made["url"])
    for method, body in (
        ("PUT", shown),
        ("PATCH", shown),
        ("PATCH", {"key": ""}),
        ("PATCH", {"description": "x"}),
        ("PUT", {}),
    ):
        assert mine.api.send(method, made["url"], body, status=200).json["key"] is None
        mine.api.get(TOKENS, token=made["key"])
    other = crypto.new_key()
    assert mine.api.patch(made["url"], {"key": other})["key"] is None
    mine.api.get(TOKENS, token=other)
    mine.api.get(TOKENS, token=made["key"], status=403)


def test_a_read_only_token_learns_no_key_of_its_owner(make_user: Any) -> None:
    mine = make_user((ALL, "users.token"))
    reader = mine.api.post(TOKENS, {"write_enabled": False})["key"]
    for path in (TOKENS, f"{TOKENS}?brief=1", f"{TOKENS}?include=key", f"{TOKENS}?q={mine.token}"):
        assert mine.token not in str(mine.api.get(path, token=reader))
    for name in ("key__ic", "key__isw", "key_hash", "key_hash__isw", "key__re"):
        mine.api.get(TOKENS, {name: mine.token[:4]}, token=reader, status=400)
    query = {"query": "{ tokens { id display key_hash } }"}
    assert "Cannot query field" in str(mine.api.post("/api/graphql/", query, token=reader, status=400))


def test_tokens_are_found_by_when_they_were_made_and_expire(make_user: Any) -> None:
    mine = make_user((ALL, "users.token"))
    first, second = mine.api.post(
        TOKENS, [{"expires": f"20{year}-01-01T00:00:00Z", "description": year} for year in ("50", "60")]
    )
    ids = {"id": [first["id"], second["id"]]}
    for name, value, expected in (
        ("expires__lt", "2060-01-01 00:00:00", ["50"]),
        ("expires__lte", "2060-01-01T00:00:00Z", ["50", "60"]),
        ("expires__gt", "2050-01-01", ["60"]),
        ("expires__n", "2050-01-01 00:00:00", ["60"]),
        ("expires", ["2050-01-01 00:00:00", "2060-01-01 00:00:00"], ["50", "60"]),
        ("created__gte", first["created"], ["50", "60"]),
        ("created__lt", first["created"], []),
    ):
        assert (
            sorted(shown["description"] for shown in mine.api.get(TOKENS, ids | {name: value})["results"]) == expected
        ), name
    mine.api.get(TOKENS, {"created__lt": "zz"}, status=400)


# -- who makes them

DENIED = detail("You do not have permission to perform this action.")


@pytest.mark.parametrize(
    ("writers", "user_may", "superuser_may"),
    [("permitted", True, True), ("superusers", False, True), ("nobody", False, False)],
)
def test_the_administrators_say_who_makes_tokens(
    make_user: Any, configured: Any, anonymous: Api, writers: str, user_may: bool, superuser_may: bool
) -> None:
    user, superuser = make_user((ALL, "users.token"), password="pw"), make_user(superuser=True, password="pw")
    with configured(token_writers=writers):
        for account, may in ((user, user_may), (superuser, superuser_may)):
            (own,) = account.api.get(TOKENS)["results"]
            for method, path, body in (
                ("POST", TOKENS, {}),
                ("POST", TOKENS, [{}]),
                ("PATCH", own["url"], {"description": "x"}),
                ("PATCH", TOKENS, [own]),
            ):
                answer = account.api.send(method, path, body, status=(200, 201) if may else 403)
                assert may or answer.json == DENIED
            assert account.api.send("PUT", own["url"], own, status=200 if may else 403)
            anonymous.post(TOKENS, headers=basic(account.username, "pw"), status=201 if may else 403)
            assert ("actions" in account.api.options(TOKENS)) is may
            account.api.delete(own["url"])


def test_constraints_say_what_tokens_are_made(make_user: Any, anonymous: Api) -> None:
    """Readers only, and not for ever: in no way does one get a token that writes or lasts."""
    mine = make_user(
        (ALL, "users.token", {"write_enabled": False, "expires__isnull": False}),
        ("view", "tenancy.tenant"),
        password="pw",
    )
    body, header = {"write_enabled": False, "expires": "2099-01-01T00:00:00Z"}, basic(mine.username, "pw")
    made = mine.api.post(TOKENS, body)
    for wrong in ({"write_enabled": True}, {"expires": None}):
        assert mine.api.post(TOKENS, body | wrong, status=403) == DENIED
        assert mine.api.patch(made["url"], wrong, status=403) == DENIED
        assert mine.api.patch(TOKENS, [{"id": made["id"], **wrong}], status=403) == DENIED
        assert anonymous.post(TOKENS, body | wrong, headers=header, status=403) == DENIED
    assert anonymous.post(TOKENS, headers=header, status=403) == DENIED
    anonymous.post(TOKENS, body, headers=header)
    assert [shown["id"] for shown in mine.api.get(TOKENS)["results"]].count(made["id"]) == 1
    assert mine.api.post(TOKENS, body, token=made["key"], status=403) == DENIED


def test_a_token_does_what_its_user_may_and_no_more(api: Api, make_user: Any, unique: Any) -> None:
    """Nothing in a token's body makes it anyone else's."""
    other = make_user(superuser=True)
    mine = make_user(("add view", "users.token"), ("view", "tenancy.tenant"))
    assert list(mine.api.post(TOKENS, {"user": other.id}, status=400)) == ["user"]
    made = mine.api.post(TOKENS, {"user_id": other.id, "is_superuser": True})
    assert made["display"].endswith(f"({mine.username})")
    mine.api.get(TENANTS, token=made["key"])
    assert mine.api.post(TENANTS, {"name": unique()}, token=made["key"], status=403) == DENIED
    for path in ("/api/users/users/", "/api/users/permissions/", "/api/dcim/sites/"):
        assert mine.api.get(path, token=made["key"], status=403) == DENIED


# -- passwords


@pytest.mark.parametrize("version", [None, "1.3", "1.6"])
def test_a_password_gets_a_token(make_user: Any, anonymous: Api, version: str | None) -> None:
    account = make_user(("add view", "users.token"), password="s3cret: ü")
    made = anonymous.post(TOKENS, headers=basic(account.username, "s3cret: ü"), version=version)
    assert made["write_enabled"] is True and len(made["key"]) == 40
    assert anonymous.get(TOKENS, token=made["key"])["count"] == 2


def test_a_password_gets_a_token_as_described(make_user: Any, anonymous: Api) -> None:
    account = make_user(("add", "users.token"), password="pw")
    made = anonymous.post(
        TOKENS, {"description": "via basic", "write_enabled": False}, headers=basic(account.username, "pw")
    )
    assert (made["description"], made["write_enabled"]) == ("via basic", False)


def test_a_wrong_password_gets_nothing(make_user: Any, anonymous: Api) -> None:
    account = make_user(("add", "users.token"), password="pw")
    for name, password in (
        (account.username, "pW"),
        (account.username, ""),
        ("nobody", "pw"),
        (make_user().username, "!"),
    ):
        assert anonymous.post(TOKENS, headers=basic(name, password), status=403) == detail("Invalid username/password.")
    for encoded in ("é", "a", "====", base64.b64encode(b"\xff").decode()):
        header = {"Authorization": f"Basic {encoded}".encode().decode("latin-1")}
        assert anonymous.post(TOKENS, headers=header, status=403) == detail(
            "Invalid basic header. Credentials not correctly base64 encoded."
        )


def test_a_password_does_not_stand_for_a_permission_or_an_active_account(make_user: Any, anonymous: Api) -> None:
    stranger = make_user(password="pw")
    denied = detail("You do not have permission to perform this action.")
    assert anonymous.post(TOKENS, headers=basic(stranger.username, "pw"), status=403) == denied
    inactive = make_user(superuser=True, active=False, password="pw")
    assert anonymous.post(TOKENS, headers=basic(inactive.username, "pw"), status=403) == detail(
        "Invalid username/password."
    )


def test_a_password_opens_the_tokens_only(service: Service, anonymous: Api) -> None:
    header = basic(service.admin.username, "correct horse")
    anonymous.get(TOKENS, headers=header)
    for path in (TENANTS, "/api/", "/api/users/users/"):
        assert anonymous.get(path, headers=header, status=403) == detail(
            "Authentication credentials were not provided."
        )


# -- how they are kept


def test_passwords_are_kept_as_argon2_hashes(api: Api, service: Service, unique: Any, anonymous: Api) -> None:
    name = unique()
    made = api.post("/api/users/users/", {"username": name, "password": "plenty of pass words"})
    assert "password" not in made and "password" not in api.get(made["url"])
    (row,) = service.rows(sa.select(User.__table__).where(User.__table__.c.username == name))
    assert row.password.startswith("$argon2id$")
    service.permit("add", "users.token", users=[made["id"]])
    anonymous.post(TOKENS, headers=basic(name, "plenty of pass words"))
    api.patch(f"/api/users/users/{made['id']}/", {"password": "some other words"})
    anonymous.post(TOKENS, headers=basic(name, "plenty of pass words"), status=403)
    anonymous.post(TOKENS, headers=basic(name, "some other words"))


def test_of_keys_only_hashes_are_kept(service: Service, make_user: Any) -> None:
    account = make_user(superuser=True)
    (row,) = service.rows(sa.select(Token.__table__).where(Token.__table__.c.key_hash == crypto.digest(account.token)))
    assert [name for name in row._mapping if "key" in name] == ["key_hash"]
    assert account.token not in str(row)


@pytest.mark.parametrize(
    ("label", "option", "value"),
    [
        ("users.user", "search", ["username", "password"]),
        ("users.user", "order", ["-password"]),
        ("users.user", "display", (str, "password")),
        ("users.token", "brief", ["key"]),
        ("users.token", "search", ["user.password:exact"]),
        ("users.token", "natural", "key_hash"),
    ],
)
def test_a_resource_that_shows_what_is_confidential_is_refused(
    monkeypatch: pytest.MonkeyPatch, label: str, option: str, value: Any
) -> None:
    endpoint = registry_for("sqlite", {})[label]
    refuse_confidential(endpoint)
    resource = copy.copy(endpoint.resource)
    object.__setattr__(resource, option, value)  # that of the registry is immutable
    monkeypatch.setattr(endpoint, "resource", resource)
    monkeypatch.setattr(endpoint, "natural_sort", resource.natural or endpoint.natural_sort)
    with pytest.raises(ValueError, match="is confidential"):
        refuse_confidential(endpoint)


def test_no_constraint_or_filter_reaches_what_is_confidential(api: Api, unique: Any) -> None:
    """A permission with such a constraint is refused, wherever the path begins."""
    for label, constraints in (
        ("users.user", {"password__startswith": "$"}),
        ("users.token", {"user__password__isnull": False}),
    ):
        body = {"name": unique(), "object_types": [label], "actions": ["view"], "constraints": constraints}
        assert list(api.post("/api/users/permissions/", body, status=400)) == ["constraints"]
    for name in ("password", "password__ic", "password__isw", "password__re"):
        api.get("/api/users/users/", {name: "$"}, status=400)


def test_a_short_secret_is_refused(tmp_path: Path) -> None:
    """With the setting or the file named, and a proposal; what it says holds nothing of the secret."""
    file = tmp_path / "secret"
    file.write_text("too short\n")
    for given, place in (
        ({"netinv.secret": "x" * 31}, "the setting netinv.secret"),
        ({"netinv.secret_file": str(file)}, f"the file {file}"),
    ):
        with pytest.raises(ValueError, match="at least 32 characters") as raised:
            known_settings.read(given, {})
        assert (
            str(raised.value).startswith(place)
            and "xxx" not in str(raised.value)
            and "too short" not in str(raised.value)
        )
    file.unlink()
    assert len(known_settings.read({"netinv.secret_file": str(file)}, {})["secret"]) == 64


def test_errors_that_are_logged_hold_nothing_of_what_was_sent(service: Service) -> None:
    secret = crypto.new_key()
    with pytest.raises(sa.exc.SQLAlchemyError) as raised, service.unit_of_work() as uow:
        uow.execute(sa.text("SELECT nothing FROM nowhere WHERE word = :word"), {"word": secret})
    assert secret not in str(raised.value)


def test_no_secret_is_anywhere_in_the_log(
    api: Api, anonymous: Api, make_user: Any, unique: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    key, password = crypto.new_key(), unique() + unique()
    made = api.post("/api/users/users/", {"username": unique(), "password": password})
    body = {"key": key, "description": "x"}
    api.post(TOKENS, body)
    api.post(TOKENS, body, status=400)
    api.get(TOKENS, {"key": key})
    api.get(TOKENS, {"key__ic": key}, status=400)
    api.patch(made["url"], {"password": password + "!", "username": "("}, status=400)
    for header in ({"Authorization": f"Token {key}"}, basic(made["username"], password)):
        anonymous.send("GET", TOKENS, headers=header)
        anonymous.send("POST", TOKENS, b"{", headers=header)
    assert key not in caplog.text and password not in caplog.text


def test_no_secret_is_anywhere_in_the_database(api: Api, service: Service, unique: Any) -> None:
    key, password = crypto.new_key(), unique() + unique()
    made = api.post("/api/users/users/", {"username": unique(), "password": password})
    api.post(TOKENS, {"key": key, "description": unique()})
    api.patch(f"/api/users/users/{made['id']}/", {"first_name": "x"})
    for table in Base.metadata.sorted_tables:
        for row in service.rows(sa.select(table)):
            text = str(row._mapping.values())
            assert key not in text and password not in text, table.name

"""The policy for new passwords: by the API, the forms and the command line alike; stored passwords stay valid."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core import crypto
from netinv_core.auth.models import User
from netinv_testing import Account, Api, Service, Unique
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

USERS = "/api/users/users/"
GOOD = "violet-anchor-37"
SHORT = "at least 12 characters"
EASY = "too easy to guess"
OWN = "the name or the address of its user"
REFUSED = [
    ("12345", SHORT),
    ("x7#kQ", SHORT),
    ("é" * 11, SHORT),
    ("123456789012", EASY),
    ("password1234", EASY),
    ("P@ssw0rd1234", EASY),
    ("passwordpassword", EASY),
    ("ｐａｓｓｗｏｒｄ１２３４", EASY),
    ("qwertyuiopas", EASY),
    ("aaaaaaaaaaaaaaaaaaaaaaaa", EASY),
    ("iloveyou1234", EASY),
    ("administrator", EASY),
    ("welcome2026!", EASY),
    ("Summer@@2026", EASY),
    ("!!!Winter99!!!", EASY),
    ("NetInv-2026!!", EASY),
    ("correcthorse", EASY),
    ("ciscocisco12", EASY),
    ("NetworkAdmin1", EASY),
    ("zaq12wsxcde3", EASY),
]
# Two words, words repeated, keys in a row: with a number, with signs between and around, in any case.
VARIATIONS = [
    *(
        "networkadmin",
        "summerwinter",
        "monkeydragon1",
        "ciscoswitch1",
        "routerrouter",
        "routeradmin12",
        "horsecorrect1",
    ),
    *(
        "letmeinplease",
        "rootrootroot",
        "netopsnetops",
        "juniperjuniper",
        "HelloWorld12",
        "iloveyoubaby",
        "CiscoRouter1!",
    ),
    *("admin@cisco.com", "google-chrome1", "root@localhost", "admin@example.com", "www.google.com"),
    *("netinv.example.org", "user@example.org", "ubuntu-linux12", "password@gmail.com", "google.com/admin"),
    *("correct-horse1", "Cisco.Cisco.12", "Network_Admin_1", "network admin", "NetworkAdmin2026!", "H0rseC0rrect!"),
    *("4dm1nN3tw0rk", "Sw1tchR0ut3r!", "datacenter123", "londonparis12", "januaryfebruary", "abc123abc123!"),
    *("1qaz2wsx3edc", "qazwsxedcrfv", "1q2w3e4r5t6y", "zaq1@WSXcde3", "!QAZ@WSX#EDC", "qwertyQWERTY1", "asdfjkl;asdf"),
    *(
        "123qweasdzxc",
        "zxcvbnm,./12",
        "ChangeMe1234",
        "Cisco12345!!",
        "P@ssw0rd!2026",
        "MyPassword2026",
        "superman1234",
    ),
    *("admin-root-2026!", "monkey-4711-dragon", "monday-coffee-99", "Lab-Rack-Summer-1", "core.switch.noc.42"),
]
ACCEPTED = [
    GOOD,
    "correct horse battery staple",
    "Summer730149!?",
    "harbour-Kelp-2026!",
    "дождливый вечер в порту",
    "9" + "kw3!ü" * 12,
    "雨の夜に港で船を待つ人たち",
]
PHRASES = [
    *("tall green tree by lake", "my cat eats blue cheese", "purple monkey dishwasher", "seven lamps on a hill"),
    *("coffee-before-meetings", "kitchen lamp orbit", "wooden.spoon.galaxy", "I like long walks in rain"),
    *("never trust a printer", "blueberry pancake sunday", "ocean-tiger-pencil", "marble.fence.quiet"),
    *("copper wire in the attic", "correct-battery-staple", "sunflower tractor jazz", "the quick brown fox jumped"),
    *("9 monkeys stole my lunch", "sleepy walrus dancing", "velvet bicycle thunder", "four-score-and-7-years"),
    *("lantern orchid quartz", "winter is the best season", "bread butter and jam please", "Regenwolke über Kiel"),
    *("staplerhammerpickle", "cactuspaintedviolin", "mytallbrotherplaysdrums", "zebra#umbrella#41"),
    *("Pineapple$Ladder9", "quiet harbor 1987 boats", "Xk9#mPq2vL8w", "j7Gq-p2Wd-x9Kt", "network of old canals"),
]


@pytest.fixture
def account(service: Service) -> Account:
    """An account with a password."""
    return service.user(password=PASSWORD)


def stored(service: Service, name: str) -> str:
    (row,) = service.rows(sa.select(User.__table__).where(User.__table__.c.username == name))
    return str(row.password)


@pytest.mark.parametrize(("password", "reason"), REFUSED)
def test_a_weak_password_is_refused_by_every_method(
    api: Api, unique: Unique, account: Account, password: str, reason: str
) -> None:
    body, path = {"username": unique(), "password": password}, f"{USERS}{account.id}/"
    answers = [
        api.post(USERS, body, status=400),
        *api.post(USERS, [body], status=400),
        api.patch(path, {"password": password}, status=400),
        api.put(path, body, status=400),
    ]
    for answer in answers:
        assert list(answer) == ["password"] and reason in answer["password"][0]


@pytest.mark.parametrize("password", ACCEPTED)
def test_long_passwords_of_any_characters_are_accepted(
    api: Api, unique: Unique, service: Service, password: str
) -> None:
    made = api.post(USERS, {"username": unique(), "password": password})
    assert crypto.verify_password(stored(service, made["username"]), password)


def test_variations_of_common_words_are_refused(api: Api) -> None:
    bodies = [{"username": f"user {number}", "password": password} for number, password in enumerate(VARIATIONS)]
    answers = api.post(USERS, bodies, status=400)
    assert [body["password"] for body, answer in zip(bodies, answers, strict=True) if not answer] == []


def test_phrases_are_accepted(api: Api, unique: Unique) -> None:
    bodies = [{"username": unique(), "password": password} for password in PHRASES]
    assert len(api.post(USERS, bodies)) == len(PHRASES)


def test_a_password_is_not_the_name_or_the_address_of_its_user(api: Api, unique: Unique) -> None:
    name = f"{unique()}.someone"
    address = f"{name}@example.com"
    for password in (name, name.upper(), address):
        body = {"username": name, "email": address, "password": password}
        assert OWN in api.post(USERS, body, status=400)["password"][0]
    made = api.post(USERS, {"username": name, "password": GOOD})
    assert OWN in api.patch(made["url"], {"password": name}, status=400)["password"][0]


def test_a_password_is_not_made_of_names_of_its_user_and_of_the_service(
    api: Api, unique: Unique, configured: Any
) -> None:
    """Three words of any dictionary are as good as random for zxcvbn."""
    name = unique()
    body = {"username": f"{name}.doe", "email": f"{name}.doe@acme.example", "first_name": "Jane", "last_name": "Doe"}
    own = [f"{name}doe@acme", f"Jane-Doe-{name}!", "acme-jane-2026", "janedoe@acme.example", "acme-netinv-1"]
    with configured(base_url="https://inventory.carrier.example"):
        for password in (*own, "carrier-jane-1", "inventory.carrier.com", "Doe@Carrier.example1"):
            refused = api.post(USERS, {**body, "password": password}, status=400)
            assert EASY in refused["password"][0], password
        accepted = [GOOD, "doe rides a violet bus", "acme sells wooden spoons"]
        others = [{**body, "username": unique(), "password": password} for password in accepted]
        assert len(api.post(USERS, others)) == len(accepted)


NAMED = [
    *("jdoe-admin-123", "123-jdoe-admin", "jdoe-spring-london-1", "lab-nms01-rack42", "carrier-noc-2026"),
    *("JDoe/Router/2025!", "core-switch-01-jdoe", "j.doe.1980.12", "jdoe_4dm1n_4711", "doe 2026 nms01 lab"),
    *("monkey@jdoe@99!", "Summer-Doe-NMS01", "jane-doe-winter-7", "prod-carrier-jdoe-12", "r0ut3r-jane-2024"),
]
BESIDE_NAMES = [
    "jane paints violet anchors",
    "a rack of seven wooden spoons",
    "jdoe-violet-anchor-lantern",
    "doe#umbrella#zebra41",
]


def test_a_password_is_not_made_of_names_common_words_and_numbers_with_signs_between(
    api: Api, unique: Unique, configured: Any
) -> None:
    body = {"email": "jdoe@carrier.example", "first_name": "Jane", "last_name": "Doe"}
    with configured(base_url="https://nms01.lab.carrier.example"):
        bodies = [{**body, "username": f"jdoe.{unique()}", "password": password} for password in NAMED]
        answers = api.post(USERS, bodies, status=400)
        assert [body["password"] for body, answer in zip(bodies, answers, strict=True) if not answer] == []
        bodies = [{**body, "username": f"jdoe.{unique()}", "password": password} for password in BESIDE_NAMES]
        assert len(api.post(USERS, bodies)) == len(BESIDE_NAMES)


def test_passwords_of_128_characters_are_accepted_and_of_more_are_not(api: Api, unique: Unique) -> None:
    words = "rain over the harbour " * 6
    api.post(USERS, {"username": unique(), "password": f"7{words}"[:128]})
    refused = api.post(USERS, {"username": unique(), "password": f"7{words}"[:129]}, status=400)
    assert refused == {"password": ["Ensure this field has no more than 128 characters."]}


def test_the_settings_turn_the_policy_off(api: Api, unique: Unique, configured: Any) -> None:
    with configured(password_min_length=0):
        assert EASY in api.post(USERS, {"username": unique(), "password": "12345"}, status=400)["password"][0]
        api.post(USERS, {"username": unique(), "password": "x7#kQ2vL9"})
    with configured(password_min_length=0, password_refuse_common=False):
        api.post(USERS, {"username": unique(), "password": "12345"})


def test_stored_passwords_stay_valid(service: Service) -> None:
    account = service.user(password="12345")
    Browser(service).sign_in(account)


def test_a_password_is_the_same_from_every_keyboard(api: Api, unique: Unique, service: Service) -> None:
    composed, decomposed = "Gebäude am Hafen", "Geba\u0308ude am Hafen"
    made = api.post(USERS, {"username": unique(), "password": decomposed})
    digest = stored(service, made["username"])
    assert crypto.verify_password(digest, composed) and crypto.verify_password(digest, decomposed)
    earlier = crypto._hasher.hash(decomposed)  # as earlier versions did
    assert crypto.verify_password(earlier, decomposed) and not crypto.verify_password(earlier, "Gebaude am Hafen")


def test_the_forms_name_the_fault_at_the_field(service: Service, account: Account) -> None:
    own = Browser(service, account)
    form = own.get("/user/password/").form()
    form["current"], form["password"], form["repeated"] = PASSWORD, "password1234", "password1234"
    assert EASY in form.submit(status=422).html.select_one("#error-password").text
    administrator = Browser(service, service.admin)
    form = administrator.get(f"/users/users/{account.id}/edit/").form()
    form["password"] = "12345"
    assert SHORT in form.submit(status=422).html.select_one("#error-password").text
    own.get("/user/profile/")

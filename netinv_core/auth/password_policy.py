"""Policy for new passwords, after NIST SP 800-63B: a minimum length, and none that is easily guessed.

There are no rules about kinds of characters. Passwords that are stored already stay valid.
"""

from __future__ import annotations

import math
import re
import secrets
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from netinv_core.settings import LONGEST_PASSWORD

# Characters whose guesses are estimated: the time grows with the square and more, to seconds for 72 look-alikes.
MAX_ESTIMATED = 32
EASY_GUESSES = 10**8  # a password that is found with fewer is refused: the score 3 of zxcvbn, "safely unguessable"
# A word, then a year, a count or up to two digits, with signs: "Summer2026!!". zxcvbn takes the signs for random ones.
_DECORATED = re.compile(
    r"(?P<before>[\W_]*)(?P<word>.*[^\W\d_])(?P<between>[\W_]*)"
    r"(?P<number>(?:19|20)\d\d|123(?:45?)?|321|\d{0,2})(?P<after>[\W_]*)",
    re.DOTALL,
)
_WORD, _PART = re.compile(r"[^\W_]{3,}"), re.compile(r"[^\W\d_]{3,}|\d{2,}")
_SIGN = re.compile(r"[\W_]")
_PIECES = (re.compile(r"[^\W\d_]+|\d+"), re.compile(r"[^\W_]+"))  # between signs, with digits apart or as letters
_YEAR = re.compile(r"(?:19|20)\d\d")
NUMBERS = (1, 10, 100)  # that an attacker tries behind a word, by the count of digits; years are of the last
WORDS, OWN_WORDS = 100, 10  # of TRADE_WORDS, and of names, that an attacker tries in a place
SIGNS = 5  # that an attacker tries in a place
_UNSHIFTED = str.maketrans("!@#$%^&*()", "1234567890")
GENERATED_LENGTH = 24  # characters of 6 random bits
# Words that an attacker of a network's inventory tries first; the lists of zxcvbn have few of them.
TRADE_WORDS = (
    *("netinv", "admin", "network", "cisco", "router", "switch", "server", "root", "juniper", "arista", "firewall"),
    *("nautobot", "netbox", "inventory", "operator", "support", "backup", "monitor", "datacenter", "fortinet"),
    *("mikrotik", "huawei", "nokia", "paloalto", "checkpoint", "extreme", "dell", "aruba", "wireless", "ethernet"),
    *("netops", "netadmin", "sysadmin", "default", "changeme", "company", "office", "secret", "access", "login"),
    *("welcome", "thisismypassword", "google", "chrome", "facebook", "microsoft", "windows", "ubuntu", "linux"),
    *("gmail", "outlook", "hotmail", "yahoo", "apple", "amazon", "android", "azure", "vmware", "oracle", "debian"),
    *("redhat", "github", "grafana", "zabbix", "ansible", "python", "docker", "proxmox", "ubiquiti", "meraki"),
    *("localhost", "localdomain", "example", "internal", "com", "net", "org", "www", "https", "http", "mail", "user"),
)
# The same between signs and numbers; within other words they would be found by chance.
SHORT_TRADE_WORDS = (
    *("rack", "core", "edge", "noc", "lab", "lan", "wan", "vlan", "vpn", "dns", "ssh", "snmp", "mgmt", "node", "host"),
    *("site", "prod", "test", "dev", "team", "staff", "service", "system", "console", "cluster", "uplink", "cable"),
    *("patch", "panel", "power", "port", "link", "cloud", "data", "center", "management", "master", "guest", "telnet"),
    *("enable", "public", "private"),
)
RANDOM_WORDS = 3  # as many words that are no names and none of the trade are a passphrase, however common they are
TOO_SHORT = "This password is too short: it must contain at least {} characters."
OWN_NAME = "This password is the name or the address of its user."
TOO_COMMON = "This password is too easy to guess: it is a common one, or a simple variation, repetition or sequence."


def normalize(password: str) -> str:
    """The form of a password that is hashed (Unicode NFKC), the same for every keyboard and system."""
    return unicodedata.normalize("NFKC", password)


def faults(settings: Mapping[str, Any], password: str, names: Iterable[str] = ()) -> list[str]:
    """Reasons why a new password is refused; ``names`` are those of its user: user name, e-mail address, own names."""
    text, found = normalize(password), []
    if len(text) < settings["password_min_length"]:
        found.append(TOO_SHORT.format(settings["password_min_length"]))
    if not settings["password_refuse_common"]:
        return found
    words = [word for name in names for word in (name, name.partition("@")[0]) if word]
    if text.casefold() in {normalize(word).casefold() for word in words}:
        found.append(OWN_NAME)
    elif _is_easy(text, [*words, *_parts([*words, *_places(settings)])]):
        found.append(TOO_COMMON)
    return found


def _places(settings: Mapping[str, Any]) -> Iterator[str]:
    """Names of the service that the settings have."""
    yield str(settings["base_url"])
    yield from settings["allowed_hosts"]


def _parts(names: Iterable[str]) -> list[str]:
    """The words in names and addresses: ``jane``, ``doe`` and ``acme`` of jane.doe@acme.example."""
    texts = [normalize(name).casefold() for name in names]
    return list(dict.fromkeys(part for text in texts for form in (_WORD, _PART) for part in form.findall(text)))


def _is_easy(text: str, words: Iterable[str]) -> bool:
    """True for a password that is among the first guesses of an attacker who knows common passwords and ``words``."""
    from zxcvbn import zxcvbn  # its lists take 13 MiB of a process and 70 ms

    known = list(dict.fromkeys([*(word[:MAX_ESTIMATED].casefold() for word in words), *TRADE_WORDS]))
    pieces = list(dict.fromkeys([*known, *SHORT_TRADE_WORDS]))

    def guesses(part: str) -> float:
        return float(zxcvbn(part, known)["guesses"]) if part else 0.0

    def guesses_of_piece(piece: str) -> float:
        return float(zxcvbn(piece, pieces)["guesses"])

    text = text[:MAX_ESTIMATED]
    plain = text.translate(_UNSHIFTED).casefold()  # keys in a row, with the shift key at some
    found = _DECORATED.fullmatch(text)
    return (
        guesses(text) < EASY_GUESSES
        or guesses(plain) * 2 < EASY_GUESSES
        or _guesses_of_words(text, guesses) < EASY_GUESSES
        or _guesses_beside(known, text, guesses) < EASY_GUESSES
        or _guesses_of_pieces(pieces, text, guesses_of_piece) < EASY_GUESSES
        or (found is not None and _guesses_of_decorated(found, guesses) < EASY_GUESSES)
    )


def _guesses_of_words(text: str, guesses: Callable[[str], float]) -> float:
    """Guesses for words in any case with signs between them, as others write a space; zxcvbn takes these for random."""
    signs = set(_SIGN.findall(text))
    return guesses(_SIGN.sub("", text).casefold()) * (2 if text != text.casefold() else 1) * SIGNS ** len(signs)


def _guesses_beside(known: Iterable[str], text: str, guesses: Callable[[str], float]) -> float:
    """Guesses for known words in a row, as in an address, and for what is beside them; zxcvbn takes three words of any
    dictionary for as good as random.
    """
    longest_first = sorted(filter(None, known), key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    plain = text.casefold()
    found, rest = pattern.findall(plain), pattern.sub("", plain)
    around = SIGNS ** len(set(_SIGN.findall(rest)))
    for word in found:
        around *= WORDS if word in TRADE_WORDS else OWN_WORDS
    return max(1.0, guesses(_SIGN.sub("", rest))) * around


def _guesses_of_pieces(known: Collection[str], text: str, guesses: Callable[[str], float]) -> float:
    """Guesses for a few words and numbers, each tried by itself in this order, with signs between them, as in
    ``jdoe-lab-2026``; zxcvbn multiplies by the number of orders and counts each sign as any character.
    """
    around = float(SIGNS ** len(set(_SIGN.findall(text))) * (2 if text != text.casefold() else 1))
    least = math.inf
    for form in _PIECES:
        pieces = set(form.findall(text.casefold()))
        words = [piece for piece in pieces if len(piece) > 2 and not piece.isdecimal() and piece not in known]
        if len(words) < RANDOM_WORDS:
            least = min(least, math.prod(NUMBERS[2] if _YEAR.fullmatch(piece) else guesses(piece) for piece in pieces))
    return around * least


def _guesses_of_decorated(found: re.Match[str], guesses: Callable[[str], float]) -> float:
    """Guesses for words, and for the number and the signs around them."""
    around = SIGNS ** len(set(found["before"] + found["between"] + found["after"]))
    number = NUMBERS[min(len(found["number"]), 2)]
    return min(guesses(found["word"]), _guesses_of_words(found["word"], guesses)) * around * number


def generate_password(settings: Mapping[str, Any]) -> str:
    """A random password that the policy accepts."""
    return secrets.token_urlsafe(LONGEST_PASSWORD)[: max(GENERATED_LENGTH, settings["password_min_length"])]

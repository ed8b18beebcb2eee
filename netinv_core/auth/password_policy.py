"""Policy for new passwords, after NIST SP 800-63B: a minimum length, and none that is easily guessed.

There are no rules about kinds of characters. Passwords that are stored already stay valid.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from netinv_core.settings import LONGEST_PASSWORD

# Characters whose guesses are estimated: the time grows with the square and more, to seconds for 72 look-alikes.
MAX_ESTIMATED = 32
EASY_GUESSES = 10**6  # a password that is found with fewer is refused
GENERATED_LENGTH = 24  # characters of 6 random bits
SERVICE = "netinv"
TOO_SHORT = "This password is too short: it must contain at least {} characters."
OWN_NAME = "This password is the name or the address of its user."
TOO_COMMON = "This password is too easy to guess: it is a common one, or a simple variation, repetition or sequence."


def normalized(password: str) -> str:
    """The form of a password that is hashed (Unicode NFKC), the same for every keyboard and system."""
    return unicodedata.normalize("NFKC", password)


def faults(settings: Mapping[str, Any], password: str, names: Iterable[str] = ()) -> list[str]:
    """Reasons why a new password is refused; ``names`` are those of its user: user name, e-mail address, own names."""
    text, found = normalized(password), []
    if len(text) < settings["password_min_length"]:
        found.append(TOO_SHORT.format(settings["password_min_length"]))
    if not settings["password_refuse_common"]:
        return found
    words = [word for name in names for word in (name, name.partition("@")[0]) if word]
    if text.casefold() in {normalized(word).casefold() for word in words}:
        found.append(OWN_NAME)
    elif _is_easy(text, words):
        found.append(TOO_COMMON)
    return found


def _is_easy(text: str, words: Iterable[str]) -> bool:
    """True for a password that is among the first guesses of an attacker who knows common passwords and ``words``."""
    from zxcvbn import zxcvbn  # its lists take 13 MiB of a process and 70 ms

    known = [SERVICE, *(word[:MAX_ESTIMATED] for word in words)]
    return not text or bool(zxcvbn(text[:MAX_ESTIMATED], known)["guesses"] < EASY_GUESSES)


def generated(settings: Mapping[str, Any]) -> str:
    """A random password that the policy accepts."""
    return secrets.token_urlsafe(LONGEST_PASSWORD)[: max(GENERATED_LENGTH, settings["password_min_length"])]

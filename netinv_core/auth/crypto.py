"""Token keys and passwords: made and hashed; texts that netinv itself must read again: encrypted.

A token is found by the SHA-256 digest of its key, which is all that is stored of it: 160 random bits need no slow hash. What is encrypted (the
secrets of webhooks, the tokens of Git repositories) is so with a key derived from the setting ``netinv.secret``.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import secrets

import argon2
from cryptography.fernet import Fernet, InvalidToken

KEY_LENGTH = 40
_hasher = argon2.PasswordHasher()


def new_key() -> str:
    """40 random hexadecimal characters."""
    return secrets.token_hex(KEY_LENGTH // 2)


def digest(key: str) -> str:
    """The SHA-256 digest that a key is found by; the case of its digits does not matter."""
    return hashlib.sha256(key.lower().encode()).hexdigest()


@functools.cache
def cipher(secret: str) -> Fernet:
    """The cipher for the setting ``netinv.secret``."""
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"netinv token keys" + secret.encode()).digest()))


def encrypt(secret: str, text: str) -> str:
    """A text as it is kept in the database; nothing stays nothing."""
    return cipher(secret).encrypt(text.encode()).decode() if text else ""


def decrypt(secret: str, sealed: str) -> str:
    """What was sealed.

    :raises ValueError: when it was sealed under another ``netinv.secret``
    """
    try:
        return cipher(secret).decrypt(sealed.encode()).decode() if sealed else ""
    except InvalidToken:
        raise ValueError("It was sealed under another netinv.secret.") from None


def hash_password(password: str) -> str:
    """An argon2id hash."""
    return _hasher.hash(password)


def verify_password(stored: str, password: str) -> bool:
    """True when the password is the one hashed. A text that is no hash (there is no such user) takes as long as one."""
    nobody = _nobody(_hasher)
    try:
        return _hasher.verify(stored if stored.startswith("$argon2") else nobody, password)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False


@functools.cache
def _nobody(hasher: argon2.PasswordHasher) -> str:
    """The hash of a password that nobody has."""
    return hasher.hash(secrets.token_urlsafe())

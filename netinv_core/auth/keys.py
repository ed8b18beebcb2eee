"""Token keys and passwords: made, hashed, sealed.

A key is found by its SHA-256 digest (160 random bits need no slow hash) and kept encrypted with a key derived from the
setting ``netinv.secret``, so that its owner can read it again and a stolen database cannot be used.
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
    """What a key is found by."""
    return hashlib.sha256(key.encode()).hexdigest()


@functools.cache
def sealer(secret: str) -> Fernet:
    """The cipher for the setting ``netinv.secret``."""
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"netinv token keys" + secret.encode()).digest()))


def seal(secret: str, text: str) -> str:
    """A text as it is kept in the database; nothing stays nothing."""
    return sealer(secret).encrypt(text.encode()).decode() if text else ""


def unseal(secret: str, sealed: str) -> str:
    """What was sealed.

    :raises ValueError: when it was sealed under another ``netinv.secret``
    """
    try:
        return sealer(secret).decrypt(sealed.encode()).decode() if sealed else ""
    except InvalidToken:
        raise ValueError("It was sealed under another netinv.secret.") from None


def hash_password(password: str) -> str:
    """An argon2id hash."""
    return _hasher.hash(password)


def verify_password(stored: str, password: str) -> bool:
    """Whether the password is the one hashed."""
    try:
        return _hasher.verify(stored, password)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False

"""Token keys and passwords (generated and hashed), and encryption of texts that the service must read again.

A token is looked up by the SHA-256 digest of its key; nothing else of the key is stored. 160 random bits need no slow
hash. Secrets of webhooks, tokens of Git repositories and stored answers are encrypted with a key derived from the
setting ``netinv.secret``; what clients keep for the service (cursors) with another one. ``cryptography`` is imported by
the first encryption: it takes 6 MiB of a process.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import unicodedata
from typing import TYPE_CHECKING

import argon2

from netinv_core.caches import lru_cache

if TYPE_CHECKING:
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

KEY_LENGTH = 40
_hasher = argon2.PasswordHasher()


def new_key() -> str:
    """Returns a new token key: 40 random hexadecimal characters."""
    return secrets.token_hex(KEY_LENGTH // 2)


def digest(key: str) -> str:
    """Returns the SHA-256 digest of a token key, ignoring the case of its digits."""
    return hashlib.sha256(key.lower().encode()).hexdigest()


@lru_cache("ciphers", 16)
def cipher(secret: str) -> Fernet:
    """Returns the cipher for a value of the setting ``netinv.secret``; cached."""
    from cryptography.fernet import Fernet

    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"netinv token keys" + secret.encode()).digest()))


def encrypt(secret: str, text: str) -> str:
    """Encrypts a text for the database; an empty text stays empty."""
    return cipher(secret).encrypt(text.encode()).decode() if text else ""


def decrypt(secret: str, encrypted: str) -> str:
    """Decrypts a text of :func:`encrypt`.

    :raises ValueError: when it was encrypted with another ``netinv.secret``
    """
    from cryptography.fernet import InvalidToken

    try:
        return cipher(secret).decrypt(encrypted.encode()).decode() if encrypted else ""
    except InvalidToken:
        raise ValueError("It was sealed under another netinv.secret.") from None


@lru_cache("ciphers", 16)
def _siv_cipher(secret: str) -> AESSIV:
    """Returns the cipher of :func:`seal` for a value of the setting ``netinv.secret``; cached."""
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

    return AESSIV(hashlib.sha512(b"netinv sealed texts" + secret.encode()).digest())


def seal(secret: str, text: str, context: str) -> str:
    """Encrypts a text that a client keeps, for URLs; only :func:`unseal` with the same ``context`` reads it.

    AES-SIV (RFC 5297): the same text and context give the same result.
    """
    sealed = _siv_cipher(secret).encrypt(text.encode(), [context.encode()])
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def unseal(secret: str, sealed: str, context: str) -> str:
    """Decrypts a text of :func:`seal`.

    :raises ValueError: for another text, another context, or another secret
    """
    from cryptography.exceptions import InvalidTag

    try:
        data = base64.urlsafe_b64decode(sealed.encode("ascii") + b"=" * (-len(sealed) % 4))
        return _siv_cipher(secret).decrypt(data, [context.encode()]).decode()
    except (InvalidTag, ValueError):
        raise ValueError("It was not sealed in this context.") from None


def encrypt_bytes(secret: str, content: bytes) -> bytes:
    """Encrypts bytes for the database."""
    return cipher(secret).encrypt(content)


def decrypt_bytes(secret: str, encrypted: bytes) -> bytes:
    """Decrypts the result of :func:`encrypt_bytes`.

    :raises ValueError: when it was encrypted with another ``netinv.secret``
    """
    from cryptography.fernet import InvalidToken

    try:
        return cipher(secret).decrypt(encrypted)
    except InvalidToken:
        raise ValueError("It was sealed under another netinv.secret.") from None


def hash_password(password: str) -> str:
    """Returns the argon2id hash of a password in the Unicode form NFKC, so that keyboards do not matter."""
    return _hasher.hash(unicodedata.normalize("NFKC", password))


def verify_password(stored: str, password: str) -> bool:
    """True when the password matches the hash. Hashes of earlier versions are of the password as it was typed, which is
    tried too where it is another text.

    A text that is not a hash (an unknown user) takes as long, so that response times do not tell which users exist.
    """
    digest = stored if stored.startswith("$argon2") else _dummy_hash(_hasher)
    return any(_matches(digest, text) for text in dict.fromkeys((unicodedata.normalize("NFKC", password), password)))


def _matches(digest: str, text: str) -> bool:
    try:
        return _hasher.verify(digest, text)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False


@lru_cache("constants", 4)
def _dummy_hash(hasher: argon2.PasswordHasher) -> str:
    """Returns the hash of a random password; cached."""
    return hasher.hash(secrets.token_urlsafe())

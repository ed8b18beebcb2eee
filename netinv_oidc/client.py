"""Client of an OpenID Connect provider: discovery, authorization code with PKCE, verification of the ID token.

OpenID Connect Core 1.0 and Discovery 1.0, RFC 6749, RFC 7636 (PKCE), RFC 9207 (issuer in the response), RP-Initiated
Logout 1.0.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import logging
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from netinv_core.auth.providers import ExternalUser
from netinv_core.errors import Denied, Unavailable
from netinv_outgoing.guarded_http import protect
from netinv_outgoing.ssrf import ConnectionRefused, Guard, own_services

log = logging.getLogger(__name__)
NAME = "oidc"
WELL_KNOWN = "/.well-known/openid-configuration"
# Asymmetric ones only: with others, whoever has the client's secret or none at all could sign.
ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)
LEEWAY = 60  # seconds that the clocks may differ
METADATA_AGE = 600.0  # seconds for which the provider's metadata is kept
MAX_SUBJECT = 255
DOWN = "The identity provider cannot be reached. Try again later."
REFUSED = "The identity provider did not confirm your identity. Try again."


@dataclasses.dataclass(frozen=True)
class Attempt:
    """State of a sign-in that has begun: random texts, and the path to return to."""

    state: str
    nonce: str
    verifier: str
    following: str
    begun: float

    @classmethod
    def begin(cls, following: str) -> Attempt:
        """A new one."""
        state, nonce, verifier = (secrets.token_urlsafe(48) for _ in range(3))
        return cls(state, nonce, verifier, following, time.time())


class ProviderClient:
    """Client of the provider that the settings name."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._issuer: str = settings["oidc_issuer"].rstrip("/")
        self._metadata: tuple[float, Mapping[str, Any]] | None = None

    def _session(self, **options: Any) -> OAuth2Session:
        settings = self._settings
        session = OAuth2Session(
            settings["oidc_client_id"],
            settings["oidc_client_secret"] or None,
            token_endpoint_auth_method="client_secret_basic" if settings["oidc_client_secret"] else "none",
            scope=" ".join(settings["oidc_scopes"]),
            code_challenge_method="S256",
            **options,
        )
        guard = Guard(settings["oidc_allow"], "netinv.oidc_allow", own_services(settings))
        protect(session, guard, settings["oidc_timeout"])
        return session

    def metadata(self) -> Mapping[str, Any]:
        """The provider's metadata.

        :raises Unavailable: when they cannot be read, or are those of another issuer
        """
        if self._metadata is None or time.monotonic() - self._metadata[0] > METADATA_AGE:
            with _log_failures(), self._session() as session:
                found = _json(session.get(self._issuer + WELL_KNOWN, withhold_token=True))
            if str(found.get("issuer", "")).rstrip("/") != self._issuer:
                log.error("the metadata of %s name the issuer %s", self._issuer, found.get("issuer"))
                raise Unavailable(DOWN)
            self._metadata = time.monotonic(), found
        return self._metadata[1]

    def authorization_url(self, attempt: Attempt, redirect_uri: str) -> str:
        """The URL to which the browser goes to sign in.

        :raises Unavailable: when the provider cannot be reached
        """
        endpoint = self.metadata()["authorization_endpoint"]
        with self._session(redirect_uri=redirect_uri) as session:
            options = {"state": attempt.state, "nonce": attempt.nonce, "code_verifier": attempt.verifier}
            url, _ = session.create_authorization_url(endpoint, **options)
        return str(url)

    def complete(self, attempt: Attempt, code: str, redirect_uri: str) -> tuple[ExternalUser, str]:
        """The user to whom a code was given, and the ID token.

        :raises Denied: when the provider or the ID token does not prove it
        :raises Unavailable: when the provider cannot be reached
        """
        metadata = self.metadata()
        with _log_failures(), self._session(redirect_uri=redirect_uri) as session:
            token = session.fetch_token(
                metadata["token_endpoint"], grant_type="authorization_code", code=code, code_verifier=attempt.verifier
            )
            keys = _json(session.get(metadata["jwks_uri"], withhold_token=True))
            id_token = str(token.get("id_token", ""))
            claims = dict(self._verify(id_token, keys, attempt.nonce, str(token.get("access_token", ""))))
            if metadata.get("userinfo_endpoint") and self._misses_claims(claims):
                further = _json(session.get(metadata["userinfo_endpoint"]))
                if further.get("sub") != claims["sub"]:
                    raise Denied(REFUSED)
                claims = {**further, **claims}
        return self._user(claims), id_token

    def _verify(self, id_token: str, keys: Any, nonce: str, access_token: str) -> Mapping[str, Any]:
        """The claims of an ID token: signed by the provider, for this client and this attempt, and not expired."""
        offered = self.metadata().get("id_token_signing_alg_values_supported") or ["RS256"]
        token = jwt.decode(id_token, KeySet.import_key_set(keys), algorithms=sorted(ALGORITHMS.intersection(offered)))
        client_id = self._settings["oidc_client_id"]
        options = {
            "iss": {"essential": True, "values": [self._issuer, self._issuer + "/"]},
            "aud": {"essential": True, "value": client_id},
        }
        params = {"nonce": nonce, "client_id": client_id, "access_token": access_token}
        claims = CodeIDToken(token.claims, token.header, options, params)
        claims.validate(leeway=LEEWAY)
        verified: Mapping[str, Any] = claims
        return verified

    def _misses_claims(self, claims: Mapping[str, Any]) -> bool:
        """True if the ID token lacks the user name, the e-mail address or the groups."""
        settings = self._settings
        wanted = {settings["oidc_username_claim"], settings["oidc_groups_claim"], "email"} - {""}
        return not wanted <= claims.keys()

    def _user(self, claims: Mapping[str, Any]) -> ExternalUser:
        """The user of verified claims. Subjects are unique for their issuer only, so both identify the user."""
        settings = self._settings
        subject = f"{self._issuer} {claims['sub']}"
        if len(subject) > MAX_SUBJECT:
            subject = hashlib.sha256(subject.encode()).hexdigest()
        groups, superuser = None, None
        if settings["oidc_groups_claim"]:
            names = _names(claims.get(settings["oidc_groups_claim"]))
            prefix = settings["oidc_group_prefix"]
            groups = [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
            if settings["oidc_superuser_group"]:
                superuser = settings["oidc_superuser_group"] in names
        return ExternalUser(
            NAME,
            subject,
            _text(claims, settings["oidc_username_claim"]),
            _text(claims, "email"),
            _text(claims, "given_name"),
            _text(claims, "family_name"),
            groups=groups,
            superuser=superuser,
        )

    def sign_out_url(self, id_token: str, redirect_uri: str) -> str:
        """The URL that ends the session at the provider; empty if it has none, or cannot be reached."""
        try:
            endpoint = str(self.metadata().get("end_session_endpoint") or "")
        except Unavailable:
            return ""
        query = {"client_id": self._settings["oidc_client_id"], "post_logout_redirect_uri": redirect_uri}
        query |= {"id_token_hint": id_token} if id_token else {}
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}" if endpoint else ""


@contextlib.contextmanager
def _log_failures() -> Iterator[None]:
    """Logs failures of the block.

    :raises Denied: for an answer that does not prove an identity
    :raises Unavailable: for a provider that does not answer as it should
    """
    try:
        yield
    except (requests.RequestException, ConnectionRefused) as error:
        log.error("the identity provider cannot be used: %s", error)
        raise Unavailable(DOWN) from None
    except (AuthlibBaseError, JoseError, ValueError, KeyError, TypeError) as error:
        log.warning("the identity provider confirmed nothing: %s: %s", type(error).__name__, error)
        raise Denied(REFUSED) from None


def _json(response: requests.Response) -> dict[str, Any]:
    """The JSON object of an answer.

    :raises requests.RequestException: for an error, or anything but an object
    """
    response.raise_for_status()
    found = response.json()
    if not isinstance(found, dict):
        raise requests.RequestException(f"{response.url} answered no JSON object")
    return found


def _names(value: Any) -> list[str]:
    """The names of a claim with groups: a list, or a single name."""
    items = value if isinstance(value, list) else [] if value is None else [value]
    return [item for item in items if isinstance(item, str)]


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    return value if isinstance(value, str) else ""

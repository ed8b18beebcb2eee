"""An OpenID Connect provider (Canaille) in a process of its own, which has its libraries in a folder of their own.

The first line of the standard input is JSON with ``port``, ``host`` (of its URLs), ``key`` (the private JWK), ``client`` and ``users``
(passwords by name). Each further line has the members of groups by name, from then on. Each line is confirmed by one of
the standard output.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
import threading
import wsgiref.simple_server
from typing import Any

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
from canaille import create_app
from canaille.app import models
from canaille.backends import Backend


class Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Logs nothing."""


def make(options: dict[str, Any]) -> Any:
    """The provider, with its users and its client."""
    app = create_app(
        config={
            "SECRET_KEY": "secret",
            "ENV_FILE": None,
            "WTF_CSRF_ENABLED": False,
            "PREFERRED_URL_SCHEME": "http",
            "SERVER_NAME": options["host"],
            "CANAILLE": {
                "DATABASE": "memory",
                "JAVASCRIPT": False,
                "ACL": {"DEFAULT": {"PERMISSIONS": ["use_oidc"], "READ": ["user_name", "groups"]}},
            },
            "CANAILLE_OIDC": {"ACTIVE_JWKS": [options["key"]], "TRUSTED_DOMAINS": ["127.0.0.1", "localhost"]},
        }
    )
    with app.app_context():
        for name, password in options["users"].items():
            user = models.User(
                user_name=name,
                display_name=name,
                formatted_name=name,
                family_name=name.title(),
                given_name="Ms",
                emails=[f"{name}@example.com"],
            )
            user.password = password
            Backend.instance.save(user)
        client = models.Client(
            client_name="netinv",
            client_uri="http://localhost",
            client_id_issued_at=datetime.datetime.now(datetime.UTC),
            token_endpoint_auth_method="client_secret_basic",
            grant_types=["authorization_code"],
            response_types=["code"],
            scope=["openid", "profile", "email", "groups"],
            **options["client"],
        )
        Backend.instance.save(client)
        client.audience = [client]
        Backend.instance.save(client)
    return app


def set_groups(app: Any, groups: dict[str, list[str]]) -> None:
    """Replaces all groups. Deletes the codes that are left, among which the store of the provider does not choose well."""
    with app.app_context():
        for code in Backend.instance.query(models.AuthorizationCode):
            Backend.instance.delete(code)
        for group in Backend.instance.query(models.Group):
            Backend.instance.delete(group)
        for name, members in groups.items():
            users = [Backend.instance.get(models.User, user_name=member) for member in members]
            Backend.instance.save(models.Group(display_name=name, members=users))


def main() -> None:
    options = json.loads(sys.stdin.readline())
    app = make(options)
    server = wsgiref.simple_server.make_server("127.0.0.1", options["port"], app, handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", flush=True)
    for line in sys.stdin:
        set_groups(app, json.loads(line))
        print("done", flush=True)


main()

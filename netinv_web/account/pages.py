"""Routes of the pages about the account, which everybody has who is signed in."""

from __future__ import annotations

from typing import Any

from netinv_web.account import password, preferences, profile, sessions, tokens


def includeme(config: Any) -> None:
    """Adds the pages."""
    both = ["GET", "POST"]
    add = config.add_netinv_page
    add("/user/profile/", profile.show, methods=both, personal=True)
    add("/user/preferences/", preferences.show, methods=both, personal=True)
    # The password is verified in a transaction of its own, so the page begins none.
    add("/user/password/", password.show, methods=both, read_only=True, personal=True)
    add("/user/sessions/", sessions.show, methods=both, personal=True)
    add("/user/api-tokens/", tokens.show, personal=True)
    add("/user/api-tokens/add/", tokens.add, methods=both, personal=True)
    add("/user/api-tokens/{id}/delete/", tokens.delete_token, methods=both, personal=True)

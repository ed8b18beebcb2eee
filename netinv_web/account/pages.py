"""Routes of the pages about the account, which everybody has who is signed in."""

from __future__ import annotations

from typing import Any

from netinv_web.account import password, preferences, profile, sessions, tokens


def includeme(config: Any) -> None:
    """Adds the pages."""
    both = ["GET", "POST"]
    add = config.add_netinv_page
    add("/user/profile/", profile.show, methods=both)
    add("/user/preferences/", preferences.show, methods=both)
    # The password is verified in a transaction of its own, so the page begins none.
    add("/user/password/", password.show, methods=both, read_only=True)
    add("/user/sessions/", sessions.show, methods=both)
    add("/user/api-tokens/", tokens.show)
    add("/user/api-tokens/add/", tokens.add, methods=both)
    add("/user/api-tokens/{id}/delete/", tokens.delete_token, methods=both)

"""Pages about the account of the user: profile, preferences, password, sessions, API tokens."""

"""A file that cannot be read: the others are."""

import tomorrow  # noqa: F401

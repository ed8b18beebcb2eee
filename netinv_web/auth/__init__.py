"""Sessions, sign-in, access of users."""

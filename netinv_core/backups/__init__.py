"""Backups: the format of the archive, its writing, and the backups that workers make on their own."""

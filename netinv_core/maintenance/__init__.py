"""Self-check, backup, restore and upkeep of an installation."""

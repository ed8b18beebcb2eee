"""Cables in the place of others: an end moves to another port, or a panel is inserted."""

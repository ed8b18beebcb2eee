"""Ports on pages: what tables of ports show of their cables, and what is done with many of them."""

"""Revert: undo of recorded changes through the ordinary write path."""

"""Stored files and the headers of images."""

"""Addresses that users wrote: their parts, and HTTP that goes to allowed addresses only."""

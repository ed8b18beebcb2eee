"""Validation rules: what objects must be, written as filters, and judged at every write."""

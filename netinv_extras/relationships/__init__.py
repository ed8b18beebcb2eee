"""Relationships defined by users between any two models."""

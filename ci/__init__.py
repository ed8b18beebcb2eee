"""Continuous integration: the machine that the tests need, the steps that must pass, and what is printed of them."""

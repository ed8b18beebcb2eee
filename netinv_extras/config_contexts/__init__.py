"""Config contexts: JSON merged by scope into devices and virtual machines, and JSON schemas for it."""

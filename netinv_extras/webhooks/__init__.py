"""Webhooks: their resources, the outbox, and the worker that sends deliveries."""

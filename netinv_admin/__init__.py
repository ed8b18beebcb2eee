"""Administration of a service: the command ``netinv``, the self-check, backup and restore."""

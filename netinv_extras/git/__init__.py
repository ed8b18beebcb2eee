"""Git repositories: synchronisation of config contexts, jobs and templates."""

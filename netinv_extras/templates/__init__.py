"""Templates written by users: rendered in a child process, for computed fields, custom links and exports."""

"""Background tasks: the queue, and the worker that runs it."""

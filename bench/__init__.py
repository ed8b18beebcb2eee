"""The benchmark: a service of its own, a world of data, measures through HTTP, a report."""

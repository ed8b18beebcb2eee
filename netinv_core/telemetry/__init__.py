"""What tells operators what the service does: fields of log lines, the access log, metrics."""

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"  # environment variable: the folder in which processes share their metrics

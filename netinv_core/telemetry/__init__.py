"""Telemetry: fields of log lines, the access log, metrics, traces."""

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"  # environment variable: the folder in which processes share their metrics

"""What tells operators what the service does: fields of log lines, the access log, metrics."""

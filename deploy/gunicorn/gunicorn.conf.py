"""Gunicorn for netinv: `gunicorn --config gunicorn.conf.py --paste /etc/netinv/production.ini`, behind a reverse proxy.

Its threads wait for slow clients, so it needs a proxy that buffers their requests. In production.ini
set `filter-with = proxy` in `[app:main]`, and the section `[filter:proxy]` that is there as a comment.
"""

import os

# With PROMETHEUS_MULTIPROC_DIR, an empty folder, /metrics adds up the metrics of all processes.
from netinv_core.telemetry.gunicorn_hooks import child_exit as child_exit

# At SIGHUP, a file with which the service does not start is refused with a line in the log.
from netinv_core.telemetry.gunicorn_hooks import on_starting as on_starting

bind = os.environ.get("NETINV_SERVER_LISTEN", "127.0.0.1:8080")
# One process for each core; each takes about 150 MiB. netinv.database_pool is for each process.
workers = os.cpu_count() or 1
worker_class = "gthread"
threads = int(os.environ.get("NETINV_SERVER_THREADS", "8"))
# Requests of GraphQL and exports may take as long as netinv.statement_timeout and more.
timeout = 300
# Longer than the time for which the proxy keeps connections.
keepalive = 75
# Queries with many ids are long; netinv itself refuses more than 64 KiB.
limit_request_line = 0
limit_request_field_size = 65536

"""Celery's settings of a worker: `celery -A dagster_celery.app worker` reads them when this folder is on PYTHONPATH.

`dagster-celery worker start` would copy the broker's password into a file that anybody on the machine can read, a new
one at each start.
"""

from __future__ import annotations

import os

broker_url = os.environ["ASSAY_BROKER_URL"]
result_backend = os.environ["ASSAY_BROKER_RESULTS_URL"]

# One run at a time and none in reserve: what a busy or a killed worker has not begun is free for the others.
worker_prefetch_multiplier = 1
task_acks_late = True

# A message that a killed worker never acknowledged comes back after this long, and Dagster then ignores it, since the
# run was marked as failed long before. It must be longer than any run: the message of one that goes on would come back.
broker_transport_options = {"visibility_timeout": 24 * 3600}

# Postgres holds the record. A run goes on while the broker is away, and its result is of no use to anybody.
worker_cancel_long_running_tasks_on_connection_loss = False
broker_connection_retry_on_startup = True
result_expires = 24 * 3600

# Memory that a big round took goes back to the machine.
worker_max_tasks_per_child = 50

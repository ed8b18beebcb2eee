"""Rows that only the service itself makes: deliveries, job results, log entries and schedules, all of them finished."""

from __future__ import annotations

import uuid

import sqlalchemy as sa

from netinv_extras.jobs import models as job_models
from netinv_testing import Service
from netinv_testing.samples import Samples


def seed_job_results(service: Service) -> None:
    """Adds results, log entries and schedules of jobs."""
    with service.unit_of_work() as uow:
        job_models.refresh(uow)
    (job,) = service.api.get("/api/extras/jobs/", {"job_class_name": "MakeSites"})["results"]
    service.api.patch(job["url"], {"enabled": True})
    for label, class_name in (("extras.jobhook", "Watcher"), ("extras.jobbutton", "Marker")):
        (receiver,) = service.api.get("/api/extras/jobs/", {"job_class_name": class_name})["results"]
        service.examples[label] = {"job": receiver["id"]}
    later = {"name": "Later", "interval": "future", "start_time": "2050-01-01T00:00:00Z"}
    for _ in range(5):
        service.api.post(f"{job['url']}run/", {"data": {"word": "w"}})
        service.api.post(f"{job['url']}run/", {"data": {"word": "w"}, "schedule": later})
    results, entries = (service.registry[label].table for label in ("extras.jobresult", "extras.joblogentry"))
    with service.unit_of_work() as uow:
        key = uow.execute(sa.select(results.c.id).limit(1)).scalar()
        uow.execute(sa.update(results).values(status="completed", completed=uow.now))
        entry = {"job_result_id": key, "grouping": "run", "log_level": "info", "created": uow.now}
        uow.execute(
            sa.insert(entries), [{"id": uuid.uuid4(), "message": str(n), "position": n, **entry} for n in range(5)]
        )


def seed_deliveries(service: Service) -> None:
    """Adds deliveries of a webhook."""
    body = {
        "name": service.unique(),
        "content_types": ["extras.tag"],
        "type_create": True,
        "payload_url": "http://receiver.example.com/",
    }
    webhook = service.api.post("/api/extras/webhooks/", body)
    Samples(service).make_many(service.registry["extras.tag"], 5)
    service.api.patch(webhook["url"], {"enabled": False})
    table = service.registry["extras.webhookdelivery"].table
    with service.unit_of_work() as uow:
        uow.execute(sa.update(table).values(state="succeeded", finished=uow.now))

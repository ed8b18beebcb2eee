"""2.x: methods that the task queue calls, a singleton, and a failure without exception."""

from nautobot.apps.jobs import Job, StringVar, register_jobs
from nautobot.extras.models import Role


class Sync(Job):
    source = StringVar(description="Where from")

    class Meta:
        name = "Sync roles"
        is_singleton = True

    def before_start(self, task_id, args, kwargs):
        self.logger.debug("starting")

    def run(self, source):
        names = Role.objects.values_list("name", flat=True)
        if source not in names:
            self.fail("no such role")

    def on_failure(self, exc, task_id, args, kwargs, einfo):
        self.logger.error(str(exc))


register_jobs(Sync)

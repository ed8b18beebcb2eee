"""1.x and 2.x: imports that try both."""

try:
    from nautobot.apps.jobs import Job, StringVar, register_jobs
except ImportError:
    from nautobot.extras.jobs import Job, StringVar

    register_jobs = None


class Greet(Job):
    who = StringVar(default="world", max_length=20)

    class Meta:
        description = "Says hello"
        has_sensitive_variables = False

    def run(self, data=None, commit=None, **variables):
        self.log_info(message="hello")


if register_jobs:
    register_jobs(Greet)

"""Jobs as people wrote them for Nautobot, with what netinv offers in place of its models."""

from nautobot.apps.jobs import DryRunVar, FileVar, register_jobs
from nautobot.extras.jobs import Job, JobFailed, ObjectVar, StringVar

name = "Ported"


class Declared(Job):
    class Meta:
        name = "Everything declared"
        description = "A job with every setting."
        read_only = True
        commit_default = False
        has_sensitive_variables = False
        approval_required = True
        hidden = True
        soft_time_limit = 20
        time_limit = 30.5
        task_queues = ["slow", "default"]
        field_order = ["second", "name", "first"]

    first = StringVar(required=False)
    second = StringVar(required=False)
    name = StringVar(description="Variables may be called as settings", required=False)
    description = StringVar(required=False)

    def run(self, data, commit):
        self.log_info(f"commit is {commit}")


class Tested(Job):
    class Meta:
        name = "Tested"
        commit_default = True
        has_sensitive_variables = False

    site = ObjectVar(model="dcim.Site", required=False)
    fail = StringVar(required=False)

    def run(self, data, commit):
        site = data["site"]
        self.log("plain")
        self.log_debug("more")
        self.log_info(site, "object first")
        self.log_success("object second", site)
        self.log_warning(obj=site, message="by names")
        self.log_info(message="only a message")
        self.log_info(None, "no object")
        self.log_success("core-1", "two texts")
        self.logger.info("logged %s", "it", extra={"object": site, "grouping": "checks"})
        self.logger.error("no failure")
        if data["fail"]:
            self.inventory.create("dcim.site", {"name": data["fail"], "status": "active"})
            raise (JobFailed if data["fail"].startswith("f") else RuntimeError)(data["fail"])
        return f"{self.request.user} {self.user.username}"

    def test_b(self):
        self.log_success("b is fine")
        return "b"

    def test_a(self):
        self.log_success("a is fine")

    def post_run(self):
        self.log_info(f"{self.failed} {self.results['run'].get('success')}")
        try:
            self.inventory.create("dcim.site", {"name": f"{self.request.id}", "status": "active"})
        except JobFailed as error:
            self.log_warning(str(error))
        return "afterwards"


class Keywords(Job):
    class Meta:
        name = "Keywords"
        dryrun_default = True
        has_sensitive_variables = False

    dryrun = DryRunVar()
    region = ObjectVar(model="dcim.region", required=False)
    site = ObjectVar(model="dcim.site", query_params={"region_id": "$region", "status": ["active"]}, required=False)
    table = FileVar(required=False)

    def run(self, *, dryrun, region, site, table):
        rows = [line.strip() for line in table] if table else []
        return f"{dryrun} {site and site['name']} {table and table.name} {rows} {self.load_yaml('ported.yaml')['word']}"


class Unregistered(Job):
    def run(self):
        pass


register_jobs(Declared, Tested, Keywords)

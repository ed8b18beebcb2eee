"""Jobs for the tests, as somebody would put them in the folder that ``netinv.jobs_root`` names."""

import os
import signal
import time
from pathlib import Path

from netinv_core.errors import RequestError
from netinv_extras.jobs import (
    BooleanVar,
    ChoiceVar,
    IntegerVar,
    IPAddressVar,
    IPAddressWithMaskVar,
    IPNetworkVar,
    Job,
    JobButtonReceiver,
    JobFailed,
    JobHookReceiver,
    MultiChoiceVar,
    MultiObjectVar,
    ObjectVar,
    SoftTimeLimitExceeded,
    StringVar,
    TextVar,
)

name = "Examples"
SITES = "dcim.site"


class Echo(Job):
    """Says what it was given."""

    name = "Echo"
    description = "Says what it was given."
    commit_default = False

    text = StringVar("some text", min_length=1, max_length=20, regex="[^#]")
    num = IntegerVar(required=False, min_value=1, max_value=9, default=3)
    flag = BooleanVar()
    pick = ChoiceVar([("a", "A"), ("b", "B")], required=False)
    picks = MultiChoiceVar([("a", "A"), (2, "B")], required=False)
    prose = TextVar(label="Prose", required=False)
    site = ObjectVar(model=SITES, required=False, query_params={"status": "active"})
    sites = MultiObjectVar(model=SITES, required=False)
    address = IPAddressVar(required=False)
    interface = IPAddressWithMaskVar(required=False)
    network = IPNetworkVar(required=False, min_prefix_length=8, max_prefix_length=24)

    def run(self, data, commit):
        self.log_info(f"got {data['text']}")
        self.log_success("done", data["site"])
        network = data["network"]
        kinds = {name: type(value).__name__ for name, value in data.items()}
        return f"{commit} {data['num']} {data['flag']} {data['pick']!r} {data['picks']} {network.size if network else 0} {kinds}"


class MakeSites(Job):
    """Makes, changes and deletes sites."""

    has_sensitive_variables = False

    word = StringVar()
    then = StringVar(required=False)

    def run(self, data, commit):
        word = data["word"]
        made = self.inventory.create(SITES, [{"name": f"{word} {number}", "status": "active"} for number in range(3)])
        self.log_success("made", made[0])
        self.inventory.update(SITES, {"id": made[0]["id"], "facility": "changed"})
        self.inventory.delete(SITES, made[2]["id"])
        try:
            self.inventory.create(
                SITES, [{"name": f"{word} 3", "status": "active"}, {"name": f"{word} 1", "status": "active"}]
            )
        except RequestError as error:
            self.log_warning(f"refused {error.body}")
        assert self.inventory.count(SITES, name__isw=word) == 2
        then = data["then"]
        if then == "raise":
            raise RuntimeError("on purpose")
        if then == "fail":
            raise JobFailed("it is not to be")
        if then == "log failure":
            self.log_failure("something is wrong")
        if then in ("commit", "rollback", "close"):
            getattr(self.inventory.uow.session, then)()
        if then == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if then.startswith("/"):  # a file that says that it is here
            Path(then).touch()
            time.sleep(60)
        return self.inventory.get(SITES, name=f"{word} 0")["facility"]


class Linger(Job):
    """Takes its time: says so, and waits until it is told to go on, or for a minute."""

    has_sensitive_variables = False
    gate = StringVar(required=False)
    write = BooleanVar(label="Begin to write")

    def run(self, data, commit):
        self.log_info("here we are")
        if data["write"]:
            self.inventory.begin()
            self.log_info("in the middle")
        deadline = time.monotonic() + 60
        try:
            while time.monotonic() < deadline and not (data["gate"] and Path(data["gate"]).exists()):
                time.sleep(0.02)
        except SoftTimeLimitExceeded as error:
            self.log_warning(str(error))
            if data["gate"] != "stubborn":
                return "left in order"
            time.sleep(60)
        return "waited"


class Audit(Job):
    """Only reads."""

    grouping = "Audits"
    name = "Audit of sites"
    read_only = True
    task_queues = ["audits", "default"]
    soft_time_limit = 20
    time_limit = 30

    def run(self, data, commit):
        assert commit is False
        self.inventory.create(SITES, {"name": "never", "status": "active"})
        return self.inventory.count(SITES)


class Asks(Job):
    """Waits for approval."""

    has_sensitive_variables = False
    approval_required = True
    word = StringVar()

    def run(self, data, commit):
        return self.inventory.create(SITES, {"name": data["word"], "status": "active"})["name"]


class Watcher(JobHookReceiver):
    """Writes down in the comments of a tenant what happened to it, which is a change too."""

    def receive_job_hook(self, change, action, changed_object):
        self.log_info(f"{action} {change['object_data']['name']}", changed_object)
        if changed_object is not None:
            self.inventory.update("tenancy.tenant", {"id": changed_object["id"], "comments": f"seen: {action}"})


class Marker(JobButtonReceiver):
    """Marks a site."""

    def receive_job_button(self, obj):
        self.inventory.update(SITES, {"id": obj["id"], "facility": "marked"})
        return obj["name"]


class Facility(Job):
    """Writes the facility of a site, and says what it sees."""

    has_sensitive_variables = False

    site = ObjectVar(model=SITES)
    facility = StringVar()
    new_status = StringVar("Name of a status to add", required=False)

    def run(self, data, commit):
        self.log_info(f"was {data['site']['facility']}, in {self.request.change_request}")
        self.inventory.update(SITES, {"id": data["site"]["id"], "facility": data["facility"]})
        if data["new_status"]:
            body = {"name": data["new_status"], "slug": data["new_status"].lower(), "content_types": [SITES]}
            self.inventory.create("extras.status", body)
        return self.inventory.count(SITES, facility=data["facility"])

    def post_run(self):
        self.log_info("the end")


class Outside(Job):
    """Has effects outside of the inventory."""

    in_change_requests = False

    def run(self, data, commit):
        return "done"

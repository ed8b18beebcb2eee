"""2.x: keyword arguments, logger, registration."""

from nautobot.apps.jobs import BooleanVar, Job, ObjectVar, register_jobs
from nautobot.dcim.models import Device, Location
from nautobot.extras.models import Status

name = "Locations"


class CloseLocation(Job):
    location = ObjectVar(model=Location)
    force = BooleanVar(default=False)

    class Meta:
        name = "Close a location"
        dryrun_default = True
        has_sensitive_variables = False

    def run(self, location, force):
        active = Device.objects.filter(location=location, status__name="Active")
        if active.exists() and not force:
            self.logger.error("%s has active devices", location.name, extra={"object": location})
            raise RuntimeError("there are active devices")
        location.status = Status.objects.get(name="Retired")
        location.validated_save()
        self.create_file("closed.txt", location.name)
        self.logger.info("closed", extra={"object": location, "grouping": "close"})


register_jobs(CloseLocation)

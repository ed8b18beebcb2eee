"""1.x: checks names of devices against a pattern per site."""

import re

from nautobot.dcim.models import Device, Site
from nautobot.extras.jobs import Job, ObjectVar, StringVar

name = "Data quality"


class VerifyHostnames(Job):
    site = ObjectVar(model=Site, required=False, label="Site")
    pattern = StringVar(default=r"^[a-z]{3}-[a-z]+\d+$", regex=r".+")

    class Meta:
        name = "Verify hostnames"
        description = "Reports devices whose names break the pattern"
        read_only = True

    def run(self, data, commit):
        devices = Device.objects.all()
        if data["site"]:
            devices = devices.filter(site=data["site"])
        for device in devices:
            if re.match(data["pattern"], device.name):
                self.log_success(obj=device, message="Name is fine")
            else:
                self.log_failure(obj=device, message=f"{device.name} breaks the pattern")

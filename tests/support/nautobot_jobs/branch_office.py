"""1.x: a new branch with racks and switches."""

from django.utils.text import slugify
from nautobot.dcim.models import Device, DeviceRole, DeviceType, Rack, Region, Site
from nautobot.extras.jobs import IntegerVar, Job, ObjectVar, StringVar
from nautobot.extras.models import Status


class NewBranch(Job):
    region = ObjectVar(model=Region)
    site_name = StringVar(description="Name of the new site")
    switch_count = IntegerVar(description="Number of access switches", min_value=1)
    switch_model = ObjectVar(model=DeviceType, display_field="model", query_params={"manufacturer": "acme"})

    class Meta:
        name = "New branch"
        field_order = ["region", "site_name", "switch_model", "switch_count"]

    def run(self, data, commit):
        planned = Status.objects.get_for_model(Site).get(slug="planned")
        site = Site(name=data["site_name"], slug=slugify(data["site_name"]), status=planned, region=data["region"])
        site.validated_save()
        self.log_success(obj=site, message="Created the site")
        role = DeviceRole.objects.get(slug="access")
        for number in range(1, data["switch_count"] + 1):
            switch = Device.objects.create(
                name=f"{site.slug}-sw{number}", site=site, device_type=data["switch_model"], device_role=role
            )
            self.log_success(obj=switch)
        Rack.objects.get_or_create(name="R1", site=site)

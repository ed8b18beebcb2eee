"""1.x: with approval and a transaction of its own."""

from django.db import transaction
from django.db.models import Q
from nautobot.dcim.models import Device
from nautobot.extras.jobs import BooleanVar, Job, MultiObjectVar
from nautobot.extras.models import Status, Tag


class Retire(Job):
    devices = MultiObjectVar(model=Device)
    remove_addresses = BooleanVar(default=False)

    class Meta:
        name = "Retire devices"
        approval_required = True
        soft_time_limit = 120

    def run(self, data, commit):
        retired = Status.objects.get(slug="decommissioning")
        tag = Tag.objects.get(slug="retired")
        with transaction.atomic():
            for device in data["devices"]:
                device.status = retired
                device.tags.add(tag)
                device.cf["retired_by"] = str(self.request.user)
                device.validated_save()
        left = Device.objects.filter(Q(status=retired) | Q(name__startswith="old-")).count()
        return f"{left} retired"

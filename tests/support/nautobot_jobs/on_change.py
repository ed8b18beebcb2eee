"""1.x: a job hook and a job button."""

from nautobot.dcim.models import Interface
from nautobot.extras.jobs import JobButtonReceiver, JobHookReceiver


class DescribeLinks(JobHookReceiver):
    class Meta:
        name = "Describe links"

    def receive_job_hook(self, change, action, changed_object):
        if action == "delete":
            return
        for interface in changed_object.interfaces.all():
            peer = interface.connected_endpoint
            if peer:
                interface.description = f"to {peer.device.name}"
                interface.validated_save()


class ShutUnused(JobButtonReceiver):
    def receive_job_button(self, obj):
        for interface in Interface.objects.filter(device=obj, cable__isnull=True):
            interface.enabled = False
            interface.save()
        self.log_info(obj=obj, message=f"shut the unused interfaces of {obj.name}")


jobs = [DescribeLinks, ShutUnused]

"""1.x: a report of tests, without run."""

from nautobot.dcim.models import Device, PowerPort
from nautobot.extras.jobs import Job


class PowerReport(Job):
    description = "Power ports"

    def test_every_port_is_cabled(self):
        for port in PowerPort.objects.filter(device__status__slug="active").select_related("device"):
            if port.cable is None:
                self.log_warning(port.device, f"{port.name} has no cable")

    def test_two_feeds(self):
        for device in Device.objects.exclude(device_role__slug="patch-panel"):
            if device.powerports.count() < 2:
                self.log_failure(device, "fewer than two power ports")
            else:
                self.log_success(device)

    def post_run(self):
        self.log(f"checked {Device.objects.count()}")

"""1.x: asks devices over the network, with settings of an app and a logger of Celery."""

from celery.exceptions import SoftTimeLimitExceeded
from celery.utils.log import get_task_logger
from django.conf import settings
from nautobot.dcim.models import Device
from nautobot.extras.jobs import Job, MultiObjectVar
from netmiko import ConnectHandler

logger = get_task_logger(__name__)


class Backup(Job):
    devices = MultiObjectVar(model=Device, query_params={"has_primary_ip": True})

    class Meta:
        name = "Back up configurations"
        time_limit = 600

    def run(self, data, commit):
        credentials = settings.PLUGINS_CONFIG["backups"]
        for device in data["devices"]:
            logger.info("asking %s", device)
            try:
                with ConnectHandler(host=str(device.primary_ip.host), **credentials) as session:
                    device.custom_field_data["config"] = session.send_command("show run")
                    device.validated_save()
            except SoftTimeLimitExceeded:
                self.log_failure(device, "took too long")
                raise

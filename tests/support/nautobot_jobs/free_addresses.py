"""1.x: utilisation of prefixes."""

from nautobot.extras.jobs import IntegerVar, IPNetworkVar, Job
from nautobot.ipam.models import IPAddress, Prefix


class FreeAddresses(Job):
    within = IPNetworkVar(min_prefix_length=8, required=False)
    limit = IntegerVar(default=90, min_value=1, max_value=100)

    class Meta:
        has_sensitive_variables = False
        task_queues = ["reports"]

    def run(self, data, commit):
        prefixes = Prefix.objects.filter(status__slug="active").order_by("network")
        for prefix in prefixes:
            used = IPAddress.objects.net_host_contained(str(prefix.prefix)).count()
            percent = 100 * used / prefix.prefix.size
            if percent >= data["limit"]:
                self.log_warning(prefix, f"{percent:.0f} % are used: {prefix.get_absolute_url()}")

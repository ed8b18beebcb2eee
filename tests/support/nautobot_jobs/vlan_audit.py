"""1.x: nothing but what netinv has, besides the reads."""

from nautobot.extras.choices import LogLevelChoices
from nautobot.extras.jobs import ChoiceVar, Job, MultiChoiceVar, TextVar
from nautobot.ipam.models import VLAN

LEVELS = (("low", "Low"), ("high", "High"))


class AuditVlans(Job):
    level = ChoiceVar(choices=LEVELS, default="low")
    kinds = MultiChoiceVar(choices=LEVELS, required=False)
    remarks = TextVar(required=False, min_length=3)

    class Meta:
        name = "Audit VLANs"
        read_only = True
        hidden = False
        has_sensitive_variables = False

    def run(self, data, commit):
        names = [vlan.name for vlan in VLAN.objects.all()]
        for vlan in VLAN.objects.filter(site__isnull=True):
            self.log_warning(obj=vlan, message=f"{vlan.vid} has no site")
        return f"{len(names)} {LogLevelChoices.LOG_INFO}"

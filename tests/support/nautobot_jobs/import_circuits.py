"""1.x: reads a CSV file."""

import csv

from django.core.exceptions import ObjectDoesNotExist, ValidationError
from nautobot.circuits.models import Circuit, CircuitType, Provider
from nautobot.extras.jobs import FileVar, Job


class ImportCircuits(Job):
    table = FileVar(description="CSV: provider, cid, type")

    class Meta:
        name = "Import circuits"
        commit_default = False
        template_name = "circuits/import.html"

    def run(self, data, commit):
        lines = data["table"].read().decode().splitlines()
        for row in csv.DictReader(lines):
            try:
                provider = Provider.objects.get(slug=row["provider"])
            except ObjectDoesNotExist:
                self.log_failure(message=f"no provider {row['provider']}")
                continue
            kind, _ = CircuitType.objects.get_or_create(name=row["type"])
            circuit = Circuit(cid=row["cid"], provider=provider, type=kind)
            try:
                circuit.full_clean()
                circuit.save()
            except ValidationError as error:
                self.log_failure(circuit, str(error))

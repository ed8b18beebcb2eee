"""Commands of the application."""

from __future__ import annotations

import functools
from pathlib import Path

import click

from netinv_core.environment import Environment
from netinv_dcim.device_type_library.importer import import_library
from netinv_import.commands import carry_out, import_options


@click.command("devicetypes")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--exact",
    is_flag=True,
    help="Make the components of types as their files have them: what a file does not say is the default, and what it"
    " does not have is deleted. Devices keep their components until the type is applied.",
)
@import_options
@click.pass_obj
def device_types(environment: Environment, path: Path, exact: bool, user: str, dry_run: bool, limit: int) -> None:
    """Import device types from PATH, files in the YAML layout of the community's device-type library.

    PATH is a checkout of the library, with `device-types/MANUFACTURER/MODEL.yaml` and pictures in `elevation-images/`,
    named by the slug or by manufacturer and model; or the folder of one manufacturer, or one file. Types are recognised
    by manufacturer and model, their components by name, and manufacturers are made as they are needed. Importing the
    same files again changes nothing; importing newer ones updates what changed in them. Without `--exact` nothing is
    deleted: what a type has beyond its file is listed. What has no place here (module bays, airflow, power over
    Ethernet …) is kept in custom fields `library_…`; a height of half units is rounded up, and an unknown type becomes
    `other`, with the original there. Users who may not define custom fields import without these values, which are
    counted then.

    Ends with a table of what became of everything, and exits with 1 when some of it was refused; the rest is imported
    then, too.
    """
    load = functools.partial(import_library, path=path, exact=exact)
    carry_out(environment, user, load, dry_run=dry_run, limit=limit)

"""Command ``netinv deploy``: the files of a deployment, with the paths of this installation."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from netinv_admin.deployment import Deployment, write
from netinv_core.command_output import with_number

HIDDEN = ("/home", "/root")  # folders that the units do not see (ProtectHome)
NEXT = """
Next, as root, for systemd and nginx:

  useradd --system --home-dir {data} --shell /usr/sbin/nologin netinv
  install -d -g netinv -m 0750 {settings}
  install -g netinv -m 0640 {folder}/production.ini {settings}/    # then set netinv.database_url
  (umask 027; openssl rand -base64 48 > {settings}/secret; chgrp netinv {settings}/secret)
  install -d -o netinv -g netinv -m 0750 {data} {data}/media {data}/git
  cp {folder}/systemd/*.service /etc/systemd/system/
  systemctl enable --now netinv netinv-worker
  cp {folder}/nginx/netinv.conf /etc/nginx/conf.d/    # certificates: {settings}/tls
  cp {folder}/nginx/netinv-proxy.conf /etc/nginx/
  {prefix}/bin/netinv -c {settings}/production.ini check
  {prefix}/bin/netinv -c {settings}/production.ini user create admin --superuser

For containers: copy the wheels to {folder}/dist, and follow {folder}/container/compose.yaml."""


def _absolute(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """A path that can stand in each of the files."""
    if not re.fullmatch(r"(/[\w.@+-]+)+/?", value):
        raise click.BadParameter("an absolute path of letters, digits and ._@+- is expected")
    return value.rstrip("/")


def _host(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """The name of a host."""
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", value):
        raise click.BadParameter("the name of a host is expected")
    return value.lower()


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
@click.option("--host", default=Deployment.host, show_default=True, callback=_host, help="The name of the service.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=Deployment.port,
    show_default=True,
    help="The port of the service behind its proxy.",
)
@click.option("--prefix", default=sys.prefix, callback=_absolute, help="Where netinv is installed; by default here.")
@click.option(
    "--settings", default=Deployment.settings, show_default=True, callback=_absolute, help="Folder of the settings."
)
@click.option("--data", default=Deployment.data, show_default=True, callback=_absolute, help="Folder of the data.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
def deploy(folder: Path, host: str, port: int, prefix: str, settings: str, data: str, force: bool) -> None:
    """Write the files of a deployment to DIR, with the paths of this installation.

    These are production.ini, units for systemd, configurations of nginx, Caddy, Gunicorn and PgBouncer, alerts and a
    dashboard, files for containers and a Helm chart. Says what to do next. Changes nothing else, and replaces no file
    without --force.
    """
    deployment = Deployment(prefix, settings, data, host, port)
    try:
        written = write(deployment, folder, force=force)
    except FileExistsError as error:
        raise click.ClickException(f"{folder} has {error} already; nothing was written (--force replaces)") from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or folder} cannot be written: {error.strerror}") from None
    click.echo(f"wrote {with_number(len(written), 'file')} to {folder}")
    click.echo(NEXT.format(folder=folder.resolve(), prefix=prefix, settings=settings, data=data))
    for name, path in (("prefix", prefix), ("settings", settings), ("data", data)):
        if path.startswith(HIDDEN):
            click.echo(
                f"\nWarning: the units do not see /home and /root (ProtectHome): choose another --{name}", err=True
            )

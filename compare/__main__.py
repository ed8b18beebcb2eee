"""``python -m compare URL URL``: sends the same requests to two services and prints in what their answers differ."""

from __future__ import annotations

import contextlib
import fnmatch
import json
from pathlib import Path

import click

from compare import parts, report
from compare.pair import Difference, Pair
from compare.service import Service

TOKEN = "0123456789abcdef0123456789abcdef01234567"


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.argument("first")
@click.argument("second")
@click.option("--token", default=TOKEN, show_default=True, help="The key of a superuser's token, the same on both.")
@click.option("--second-token", default=None, help="The key for the second service, where it is another.")
@click.option("--api-version", default="1.6", show_default=True, help="The API version that is asked for.")
@click.option(
    "--part", "wanted", multiple=True, type=click.Choice(list(parts.PARTS)), help="Only this part (repeatable)."
)
@click.option("--only", default="*", show_default=True, help="Only models that match: app.model, * for any text.")
@click.option(
    "--allowed",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default=report.ALLOWED,
    help="The documented differences.",
)
@click.option("--all", "show_all", is_flag=True, help="Also print differences that are documented.")
@click.option(
    "--report",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write each new difference here, a JSON object a line.",
)
def compare(
    first: str,
    second: str,
    token: str,
    second_token: str | None,
    api_version: str,
    wanted: tuple[str, ...],
    only: str,
    allowed: Path,
    show_all: bool,
    output: Path | None,
) -> None:
    """Compare the services at the URLs FIRST (the reference) and SECOND.

    Both are given the same inventory, which is deleted at the end; they should hold nothing else. The exit status is 1
    when answers differ in a way that is not documented.
    """
    reasons = report.read_allowed(allowed)
    with contextlib.ExitStack() as stack:
        lines = stack.enter_context(output.open("w")) if output is not None else None

        def tell(difference: Difference) -> None:
            if lines is not None and (show_all or report.reason_for(difference, reasons) is None):
                lines.write(json.dumps(vars(difference)) + "\n")
                lines.flush()

        pair = Pair(Service(first, token, api_version), Service(second, second_token or token, api_version), tell)
        run = parts.Run(pair, lambda model: fnmatch.fnmatch(model, only))
        stack.callback(run.tear_down)
        run.build()
        for name, part in parts.PARTS.items():
            if not wanted or name in wanted:
                click.echo(f"{name} …", err=True)
                part(run)
    new, known = report.sort(pair.differences, reasons)
    click.echo(report.text(pair.compared, new, known, show_all=show_all))
    if new:
        raise SystemExit(1)


if __name__ == "__main__":
    compare(prog_name="python -m compare")

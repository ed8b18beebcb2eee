"""Distributions: builds the wheel and the sdist of each one, from the files that git tracks; `netinv_web` gets the
documentation site besides.

Two builds of the same files are equal, byte by byte. Times are that of the last commit, or `SOURCE_DATE_EPOCH`
(https://reproducible-builds.org/docs/source-date-epoch/); owners and permissions of files are always the same.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from release import REPOSITORY, epoch, site

META = "."  # the folder of the distribution `netinv`


def folders() -> list[str]:
    """The folders of all distributions."""
    return [*sorted(path.parent.name for path in REPOSITORY.glob("netinv_*/pyproject.toml")), META]


def tracked(folder: str) -> list[str]:
    """The files of a distribution that git tracks, relative to its folder."""
    command = ["git", "ls-files", "-z", "--", "." if folder != META else ":(glob)*"]
    listed = subprocess.run(command, cwd=REPOSITORY / folder, check=True, capture_output=True, text=True).stdout
    return [file for name in listed.split("\0") if name for file in _files(folder, name)]


def _files(folder: str, name: str) -> list[str]:
    """A tracked file; of a link to a folder, such as `netinv_admin/deploy`, the files that are tracked there."""
    target = (REPOSITORY / folder / name).resolve()
    return [f"{name}/{file}" for file in tracked(str(target.relative_to(REPOSITORY)))] if target.is_dir() else [name]


def build(folder: str, output: Path) -> None:
    """Builds the sdist of a distribution, and the wheel from the sdist, so that the sdist is known to be complete."""
    with tempfile.TemporaryDirectory() as name:
        copy, built = Path(name, "copy"), Path(name, "built")
        for file in tracked(folder):
            (copy / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / folder / file, copy / file)
            (copy / file).chmod(0o644)
        if folder == site.OUTPUT.parent.name:
            site.build(copy / site.OUTPUT.name)
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(built), str(copy)]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch())}
        run = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, umask=0o022)
        if run.returncode:
            raise SystemExit(f"{run.stdout}{run.stderr}\n{folder} was not built")
        output.mkdir(parents=True, exist_ok=True)
        for path in built.iterdir():
            data = path.read_bytes()
            (output / path.name).write_bytes(reproducible(data) if path.name.endswith(".tar.gz") else data)


def reproducible(archive: bytes) -> bytes:
    """An sdist with its files in the order of their names, and without times, owners and permissions of the builder."""
    result = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as read,
        gzip.GzipFile(filename="", fileobj=result, mode="wb", mtime=epoch()) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as written,
    ):
        for member in sorted(read.getmembers(), key=lambda member: member.name):
            entry = tarfile.TarInfo(member.name)
            entry.type, entry.size, entry.mtime = member.type, member.size, epoch()
            entry.mode = 0o755 if member.isdir() else 0o644
            written.addfile(entry, read.extractfile(member))
    return result.getvalue()


def main(arguments: Iterable[str] | None = None) -> None:
    """Builds distributions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", help="folders of distributions; all of them if none is named")
    parser.add_argument("--output", type=Path, default=REPOSITORY / "dist", help="where the files go (dist)")
    options = parser.parse_args(None if arguments is None else list(arguments))
    for folder in options.folders or folders():
        build(folder, options.output)


if __name__ == "__main__":
    main()

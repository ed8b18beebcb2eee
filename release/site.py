"""Documentation site: built with MkDocs from `docs/`, `CONTRIBUTING.md` and the generated reference, into the folder
`site` of `netinv_web`, which serves it at `/docs/`.

Broken links fail. No page names another host, and the files do not depend on the time of the build.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from release import REPOSITORY, epoch, reference

OUTPUT = REPOSITORY / "netinv_web" / "site"
UNUSED = ("404.html", "sitemap.xml", "sitemap.xml.gz", "**/*.map")  # they need the address of the site, or a debugger


def sources(folder: Path) -> None:
    """Writes the pages in Markdown to a folder."""
    shutil.copytree(REPOSITORY / "docs", folder)
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        text = (REPOSITORY / name).read_text()
        (folder / name.lower()).write_text(re.sub(r"\]\(docs/", "](", text))
    for path in folder.glob("*.md"):
        path.write_text(re.sub(r"\]\(\.\./(CONTRIBUTING|CHANGELOG)\.md", _lower, path.read_text()))
    for name, text in reference.pages((REPOSITORY / reference.INI).read_text()).items():
        path = folder / "reference" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _lower(match: re.Match[str]) -> str:
    return f"]({match[1].lower()}.md"


def build(output: Path) -> None:
    """Builds the site.

    :raises SystemExit: for a broken link, and everything else that MkDocs warns of
    """
    os.environ.setdefault("SOURCE_DATE_EPOCH", str(epoch()))  # which MkDocs writes to pages
    with tempfile.TemporaryDirectory() as name:
        sources(Path(name, "pages"))
        options: dict[str, Any] = {"docs_dir": str(Path(name, "pages")), "site_dir": str(output), "strict": True}
        try:
            build_site(load_config(str(REPOSITORY / "mkdocs.yml"), **options))
        except Abort as error:
            raise SystemExit(f"the site was not built: {error}") from None
    for pattern in UNUSED:
        for path in output.glob(pattern):
            path.unlink()


def main() -> None:
    """Builds the site."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="where the site goes (netinv_web/site)")
    build(parser.parse_args().output)


if __name__ == "__main__":
    main()

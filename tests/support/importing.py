"""Import pages in a browser without scripts: the preview of pasted rows, and their import."""

from __future__ import annotations

from netinv_web.testing import Browser, BrowserPage

PAGE = "/tenancy/tenants/import/"


def preview(browser: Browser, text: str, path: str = PAGE, *, status: int = 200, **members: str) -> BrowserPage:
    """The preview of pasted rows."""
    form = browser.get(path).form()
    form["data"] = text
    for name, value in members.items():
        form[name] = value
    return form.submit("_step", status=status)


def apply(browser: Browser, page: BrowserPage, status: int = 303) -> BrowserPage:
    """Imports what a preview shows."""
    return page.form().submit("_step", status=status)


def outcomes(page: BrowserPage) -> list[str]:
    """The outcomes of the rows."""
    return [str(row.td.find(string=True)) for row in page.html.select('.import-form [aria-label="Rows"] tr:has(td)')]

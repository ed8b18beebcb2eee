"""Check of forms and searches with hostile texts, one of a megabyte: each is taken or refused, in little time."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from netinv_testing.checks.hostile import DOCUMENTS, MEGABYTE
from netinv_testing.hangs import no_hang
from netinv_web.testing import hostile_values, visible_words
from netinv_web.testing.bad_forms import TEXTS
from netinv_web.testing.browser import BrowserPage
from netinv_web.testing.checks import PageCase, page_check
from netinv_web.testing.fuzzing import quote_text

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

DRAWN = 4  # texts for the forms and searches of a resource, beside the long ones
LONG = ("[" * MEGABYTE, "e\u0301\u0316" * (MEGABYTE // 3), "9" * MEGABYTE, "[1-9]" * (MEGABYTE // 5))
ANSWERS = (200, 303, 400, 404, 409, 413, 422)
SEARCH_LENGTH = 4000  # characters: a longer query is refused as a whole
MEMBERS = ("find", "replace", "text", "_columns")  # of renaming, the import and the grid


def _has_forms(endpoint: Endpoint) -> bool:
    return endpoint.resource.writable and {"add", "change"} <= set(endpoint.resource.writes)


@page_check(_has_forms)
def hostile_texts_in_forms_and_searches_are_answered_in_little_time(case: PageCase) -> None:
    """The forms of a new object and of one, with the text in one control and in all; those of several objects, import
    and grid; and the searches of lists, choices and the search page.
    """
    choose = random.Random(case.endpoint.label)
    given = [text for text in (*TEXTS, *DOCUMENTS, *hostile_values.TEXTS) if not _is_judged(case, text)]
    texts = choose.sample(given, DRAWN)
    item = case.item()
    forms = {path: _values(case, path) for path in (f"{case.path}add/", f"{case.at(item)}edit/")}
    for text in [*texts, choose.choice(LONG)]:
        _search(case, text)
        for path, values in forms.items():
            names = sorted({name for name, _ in values})
            for chosen in ([choose.choice(names)], names if len(text) < MEGABYTE / 2 else names[:1]):
                _post(case, path, [(name, text if name in chosen else value) for name, value in values])
    for path in ("edit/", "rename/", "delete/", "grid/", "import/"):
        texts = hostile_values.targets_of(case.endpoint)[0][:3]
        members = [
            *((name, choose.choice(given)) for name in texts),
            *((name, choose.choice(given)) for name in MEMBERS),
        ]
        query = f"?_fields={','.join(texts)}" if path == "edit/" else ""
        _post(case, f"{case.path}{path}{query}", [("_keys", str(item["id"])), ("_step", "preview"), *members])


def _is_judged(case: PageCase, text: str) -> bool:
    """True for a text that other checks of pages take for an id or a content type once it is a name."""
    return any(visible_words.faults_in(case.service.registry, case.endpoint, text))


def _values(case: PageCase, path: str) -> list[tuple[str, str]]:
    """The names and values of the controls of a form, and of its hidden members."""
    fields = case.browser.get(path).form().fields.items()
    pairs = [(name, field.value) for name, found in fields if name for field in found]
    return [(name, value) for name, value in pairs if isinstance(value, str)]


def _post(case: PageCase, path: str, values: list[tuple[str, str]]) -> None:
    content = "&".join(f"{quote_text(name)}={quote_text(value)}" for name, value in values)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    what = f"{path} {content[:300]}"
    with no_hang(what):
        _check(case.browser.post(path, content, headers=headers, status=ANSWERS), what)


def _search(case: PageCase, text: str) -> None:
    """Searches for the text wherever a text may be sought."""
    query = quote_text(text[:SEARCH_LENGTH])
    for path in (f"{case.path}?q=", f"{case.path}_choices/?_q=", "/search/?q="):
        what = f"{path}{query[:300]}"
        with no_hang(what):
            _check(case.browser.get(f"{path}{query}", status=ANSWERS), what)


def _check(page: BrowserPage, what: str) -> None:
    if page.content_type == "text/html":
        hostile_values.check_page(page)
        assert "This part failed" not in page.text, what

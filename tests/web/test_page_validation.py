"""The validation of pages that tests of pages rely on."""

from __future__ import annotations

import pytest
import webtest

from netinv_web.testing import Browser
from netinv_web.testing.validation import PageValidator

PAGE = "<!DOCTYPE html><html><head><title>x</title></head><body><h1>Sites</h1>{}</body></html>"
ROW = '<p><a href="/dcim/sites/{}/">{}</a></p>'


def test_a_page_without_faults_has_none() -> None:
    """Nor has a longer page of the same parts."""
    validator = PageValidator()
    for count in (1, 30):
        assert validator.faults(PAGE.format("".join(ROW.format(n, n) for n in range(count)))) == []


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("<div><span>x</div></span>", "end-tag"),
        ("</p>", "1 elements p, 2 of them closed"),
        ("<div><p>x</p>", "1 elements div, 0 of them closed"),
        ("<b>x", "expected-one-end-tag-but-got-another"),
        ('<p id="a"></p><p id="a"></p>', "the id a is used twice"),
        ("<h1>Again</h1>", "2 elements h1"),
        ('<p onclick="x()">x</p>', "inline onclick of p"),
        ("<p style='color: red'>x</p>", "inline style of p"),
        ("<script>x</script>", "inline script"),
        ('<img src="//elsewhere.example/x.png" alt="">', "a page loads //elsewhere.example/x.png"),
        ('<input name="x">', "no label for input x"),
        (
            '<form class="form-actions"><p>x</p><button class="danger" type="submit">Delete</button></form>',
            "what the page asks has no focus",
        ),
        ('<form><button type="submit" name="_step" value="apply">x</button></form>', "what the page asks has no focus"),
    ],
)
def test_faults_are_found_after_valid_pages_too(part: str, fault: str) -> None:
    """Pages of which everything is known to be valid are not parsed again; a new part is."""
    validator = PageValidator()
    validator.faults(PAGE.format(ROW))
    assert fault in "; ".join(validator.faults(PAGE.format(ROW + part)))


def test_another_status_is_told_with_the_request_and_the_words_of_the_page(browser: Browser) -> None:
    with pytest.raises(webtest.AppError) as failure:
        browser.get("/dcim/sites/?q=nowhere", status=403)
    (line,) = str(failure.value).splitlines()
    assert line.startswith("GET /dcim/sites/?q=nowhere: Bad response: 200 OK (not 403): ") and "<" not in line

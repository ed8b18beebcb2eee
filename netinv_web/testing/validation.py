"""Validation of pages in tests: HTML without parse errors, one heading, labels, unique ids, nothing inline."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree.ElementTree import Element

import html5lib

CONTROLS = ("input", "select", "textarea")
UNLABELLED = ("hidden", "submit", "button")
# Forms, titles and addresses show text as it is stored, with the noncharacters that somebody may have entered.
STORED_TEXT = "invalid-codepoint"
HANDLER = re.compile(r"on[a-z]+")
TAG = re.compile(r"<(/?[a-zA-Z][^\s>/]*)([^>]*)>")
ATTRIBUTE = re.compile(r"""\s([^\s"'>/=]+)(?:=(?:"[^"]*"|'[^']*'|[^\s"'>]*))?""")
ID = re.compile(r'<[a-z][^>]*\sid="([^"]+)"')
# Addresses of other hosts that a page loads, or sends forms to. Links that users entered are theirs.
FOREIGN = re.compile(
    r'<(?:link|script|img|form|iframe|use)\b[^>]*\s(?:href|src|action)="((?:[a-z][a-z0-9+.-]*:|//)[^"]*)"'
)
# A text between tags or quotes that the parser takes minutes for: it appends to it as often as it has lines.
LONG_TEXT = re.compile(r'(>)[^<]{10000,}(?=<)|(=")[^"]{10000,}(?=")')
# A form that only asks, or a button that writes what the page shows.
ASKING = re.compile(
    r'<form\b(?=[^>]*\sclass="form-actions")[^>]*>(?:(?!</form>).)*?<button\b[^>]*\sclass="danger"[^>]*\stype="submit">'
    r'|<button\b[^>]*\sname="(?:_step" value="apply|_several|_digest)"',
    re.DOTALL,
)
# Where the focus is on a page that asks: on what it tells, in its first field, or where the script of a part leads it.
FOCUSED = re.compile(r'<[^>]*\s(?:data-focus|data-form)\b|<div id="list"')
GROUP = 2  # tags
VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)  # elements without an end tag (HTML Living Standard)


class PageValidator:
    """Finds the faults of pages. A page whose every pair of tags in a row (names and attributes' names) was in valid
    pages before is not parsed again: parsing takes ten times as long as making the page. Each page closes its elements.
    """

    def __init__(self) -> None:
        self._valid: set[tuple[str, ...]] = set()

    def faults(self, markup: str) -> list[str]:
        """The faults of a page, as sentences."""
        problems = [f"the id {name} is used twice" for name, count in Counter(ID.findall(markup)).items() if count > 1]
        problems += [f"a page loads {address}" for address in FOREIGN.findall(markup)]
        if (headings := markup.count("<h1")) != 1:
            problems.append(f"{headings} elements h1")
        if ASKING.search(markup) and not FOCUSED.search(markup):
            problems.append("what the page asks has no focus")
        problems += unclosed_elements(markup)
        groups = groups_of(markup)
        if not groups <= self._valid:
            problems += parsed_faults(markup)
        if not problems:
            self._valid |= groups
        return problems


def groups_of(markup: str) -> set[tuple[str, ...]]:
    """Each pair of tags in a row, with the names of their attributes."""
    tags = [name + " ".join(["", *ATTRIBUTE.findall(attributes)]) for name, attributes in TAG.findall(markup)]
    return set(zip(*(tags[start:] for start in range(GROUP)), strict=False))


def unclosed_elements(markup: str) -> list[str]:
    """The elements with more start tags than end tags, or fewer."""
    tags = [(name.lower(), attributes) for name, attributes in TAG.findall(markup) if not attributes.endswith("/")]
    counts = Counter(name for name, _ in tags)
    return [
        f"{counts[name]} elements {name}, {counts[f'/{name}']} of them closed"
        for name in sorted({name.removeprefix("/") for name in counts} - VOID)
        if counts[name] != counts[f"/{name}"]
    ]


def parsed_faults(markup: str) -> list[str]:
    """The faults that the tree of a page shows."""
    parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
    root: Element = parser.parse(LONG_TEXT.sub(r"\1\2", markup))
    problems = [f"line {line}: {name} {values}" for (line, _), name, values in parser.errors if name != STORED_TEXT]
    for element in root.iter():
        problems += [
            f"inline {name} of {element.tag}" for name in element.attrib if name == "style" or HANDLER.fullmatch(name)
        ]
        if element.tag == "style" or (element.tag == "script" and not element.get("src")):
            problems.append(f"inline {element.tag}")
    return problems + [f"no label for {element.tag} {element.get('name')}" for element in _unlabelled_controls(root)]


def _unlabelled_controls(root: Element) -> list[Element]:
    labelled = {element.get("for") for element in root.iter("label")}
    within = {id(control) for label in root.iter("label") for control in label.iter()}
    controls = [element for tag in CONTROLS for element in root.iter(tag) if element.get("type") not in UNLABELLED]
    return [
        control
        for control in controls
        if control.get("id") not in labelled and id(control) not in within and not control.get("aria-label")
    ]

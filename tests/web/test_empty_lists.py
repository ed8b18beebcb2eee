"""Empty lists: one sentence about what belongs there, and the next step, for every resource."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import sqlalchemy as sa

from netinv_core.labels import description_of
from netinv_testing import Service
from netinv_testing.client import PASSWORD
from netinv_web.lists.columns import presentation_of
from netinv_web.lists.empty import ARTICLES, sentence_of, with_article
from netinv_web.paths import page_path
from netinv_web.testing import Browser

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

pytestmark = pytest.mark.any_database
NOBODY = "00000000-0000-4000-8000-000000000000"
MAX_LENGTH = 130
# What only readers of the code understand: marks of code, names of columns, modules, classes.
CODE = re.compile(r"``|:\w+:|\w_\w|\w\.\w|[a-z][A-Z]")


def listed(service: Service) -> list[Endpoint]:
    """The resources with a list of their own, besides those of plugins."""
    endpoints = [
        endpoint
        for endpoint in service.registry.endpoints.values()
        if endpoint.resource.of is None and not endpoint.path.startswith("/api/plugins/")
    ]
    assert len(endpoints) > 50
    return endpoints


def faults_of(endpoint: Endpoint) -> list[str]:
    """The faults of the sentence of a resource."""
    sentence, stated = sentence_of(endpoint), presentation_of(endpoint).empty
    source = stated or (endpoint.model.__doc__ or "").strip().partition("\n")[0].partition(". ")[0]
    found = []
    if CODE.search(source):
        found.append("names what is in the code")
    if not stated and not source.startswith(ARTICLES):
        found.append("does not begin with an article")
    if not sentence.endswith(".") or ". " in sentence or len(sentence) > MAX_LENGTH:
        found.append("is not one short sentence")
    if "add" not in endpoint.resource.writes and not stated and endpoint.label != "contenttypes.contenttype":
        found.append("does not say how objects come about that nobody adds")
    return found


def test_the_sentence_of_every_empty_list_is_for_people(service: Service) -> None:
    faults = {sentence_of(endpoint): found for endpoint in listed(service) if (found := faults_of(endpoint))}
    assert faults == {}


@pytest.mark.night
def test_every_empty_list_says_what_belongs_there_and_offers_the_next_step(service: Service) -> None:
    endpoints = listed(service)
    rights = [
        (action, item.label, {"id": NOBODY if isinstance(item.table.c.id.type, sa.Uuid) else -1})
        for item in endpoints
        for action in ("view", "add")
    ]
    browser, seen = Browser(service, service.user(*rights, password=PASSWORD)), 0
    for endpoint in endpoints:
        page = browser.get(page_path(endpoint), status="*")
        block = page.html.select_one("#results .empty") if page.status_int == 200 else None
        if block is None:  # everybody sees some, or the list has a page of its own
            continue
        seen += 1
        assert sentence_of(endpoint) in " ".join(block.text.split()), endpoint.label
        path = page_path(endpoint)
        links = [link["href"] for link in block.select("a")]
        assert links == ([f"{path}add/", f"{path}import/"] if "add" in endpoint.resource.writes else []), endpoint.label
    assert seen > len(endpoints) * 0.9


@pytest.mark.parametrize(
    ("title", "named"),
    [
        ("interface", "An interface"),
        ("IP address", "An IP address"),
        ("RIR", "An RIR"),
        ("VLAN", "A VLAN"),
        ("user", "A user"),
        ("rack", "A rack"),
        ("object change", "An object change"),
    ],
)
def test_names_have_the_article_that_is_spoken(title: str, named: str) -> None:
    assert with_article(title) == named


def test_the_sentence_is_composed_of_the_first_sentence_of_the_docstring(service: Service) -> None:
    prefix = service.registry["ipam.prefix"]
    assert description_of(prefix) == "A network, global or within a VRF. All addresses of a pool are usable."
    assert sentence_of(prefix) == "A prefix is a network, global or within a VRF."

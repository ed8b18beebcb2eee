"""Templates of any shape end within their bounds: rendered, or with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from netinv_testing import Service

pytestmark = pytest.mark.any_database
FIELDS, SITES = "/api/extras/computed-fields/", "/api/dcim/sites/"
EXPRESSIONS = (
    "obj", "obj.name", "obj.status.slug", "obj.region.name", "obj.cf", "obj.tags", "obj.zz.zz", "obj.devices.all()", "range(3)", "range(10**12)", "1 / 0",
    "'a' * 10", "'a' * 10**10", "2 ** 9", "9 ** 9 ** 9", "[[]] * 99", "obj.__class__", "''.format", "namespace(a=1)", "cycler(1).next()", "dict(a=obj)",
    "none", "zz", "'%0999999999d' % 1", "'{:>999999999}'.format(1)", "obj.name | upper", "'x' | center(10**9)", "x", "self", "loop", "caller()",
)  # fmt: skip
FILTERS = (
    "",
    " | upper",
    " | list",
    " | join",
    " | first",
    " | length",
    " | tojson",
    " | batch(2) | list",
    " | zz",
    " | sort",
    " | attr('name')",
    " | default('d')",
)
expressions = st.tuples(st.sampled_from(EXPRESSIONS), st.sampled_from(FILTERS)).map("".join)


def blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A statement around another template."""
    pairs = (
        ("for x in {}", "endfor"),
        ("if {}", "endif"),
        ("set x", "endset"),
        ("with x = {}", "endwith"),
        ("filter upper", "endfilter"),
        ("macro m()", "endmacro"),
    )
    made = [st.tuples(st.just(start), expressions, inner, st.just(end)) for start, end in pairs]
    return st.one_of(*made).map(lambda parts: f"{{% {parts[0].format(parts[1])} %}}{parts[2]}{{% {parts[3]} %}}")


plain = st.one_of(
    st.sampled_from(["", "text", "{{", "%}", "{#", "é"]),
    expressions.map(lambda expression: f"{{{{ {expression} }}}}"),
)
templates = st.recursive(
    plain, lambda inner: st.one_of(blocks(inner), st.tuples(inner, inner).map("".join)), max_leaves=6
)


@pytest.fixture(scope="module")
def field(service: Service) -> Any:
    """A computed field of sites, and a site with it; renderers that may take half a second."""
    with service.configured(template_timeout=0.5, template_pause=0):
        word = service.unique()
        body = {
            "label": word,
            "slug": word,
            "content_type": "dcim.site",
            "template": "x",
            "fallback_value": "fallback",
        }
        made = service.api.post(FIELDS, body)
        site = service.api.post(SITES, {"name": word, "status": "active"})
        yield made["url"], site["url"], word
        service.api.delete(made["url"])


@settings(max_examples=40)
@given(templates)
@example("{% for x in range(10**9) %}{% for y in range(10**9) %}{% endfor %}{% endfor %}")
@example("{{ 'a' * 10**9 }}")
@example("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")
@example("{% set x = [1] %}{% for i in range(99) %}{% set x = x + x %}{% endfor %}{{ x }}")
@example("{{ 9 ** 9 ** 9 }}")
@pytest.mark.night
def test_a_template_of_any_shape_is_rendered_or_has_its_fallback(service: Service, field: Any, template: str) -> None:
    path, site, name = field
    answer = service.api.send("PATCH", path, {"template": template}, status=(200, 400))
    event(f"{answer.status_int} when saved")
    if answer.status_int == 400:
        assert answer.json.keys() == {"template"}
        return
    value = service.api.get(site, {"include": "computed_fields"})["computed_fields"][name]
    event("fallback" if value == "fallback" else "rendered")
    assert isinstance(value, str) and len(value) <= service.registry.settings["template_max_output"]

"""Values of templates: addresses and networks, nulls, unknown names, and lists and mappings of the template."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_extras.templates import sandbox
from netinv_extras.templates.feature import feature
from netinv_extras.templates.renderer.values import Address, Network
from netinv_extras.templates.sandbox import Rendering, RenderLimits

pytestmark = pytest.mark.any_database
LIMITS = RenderLimits.of({name: default for name, (_, default) in feature.settings.items()})
VALUES = {
    "host": Network("10.0.0.5/24"),
    "link": Network("10.0.0.5/31"),
    "net": Network("10.0.0.0/24"),
    "net6": Network("2001:db8::/64"),
    "ip": Address("10.0.0.5"),
    "data": {"list": [1, 2], "inner": {"a": 1}},
    "nothing": None,
}


def rendered(source: str, **variables: Any) -> str:
    """The text of a template, or its error."""
    (result,) = sandbox.render([Rendering(source, {**VALUES, **variables})], LIMITS)
    return str(result)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "{{ host }} {{ host.ip }} {{ host.network }} {{ host.netmask }}",
            "10.0.0.5/24 10.0.0.5 10.0.0.0 255.255.255.0",
        ),
        ("{{ host.broadcast }} {{ host.hostmask }} {{ host.cidr }}", "10.0.0.255 0.0.0.255 10.0.0.0/24"),
        ("{{ host.prefixlen }} {{ host.version }} {{ host.size }} {{ host.first }}", "24 4 256 167772160"),
        ("{{ link.broadcast }}|{{ net6.version }} {{ net6.broadcast }}", "|6 2001:db8::ffff:ffff:ffff:ffff"),
        ("{{ net[1] }} {{ net[-2] }} {{ net[1:3] }}", "10.0.0.1 10.0.0.254 ['10.0.0.1', '10.0.0.2']"),
        ("{{ net.network + 1 }} {{ host.ip - 1 }} {{ host.ip + '/32' }}", "10.0.0.1 10.0.0.4 10.0.0.5/32"),
        ("{{ ip in net }} {{ host in net }} {{ '10.0.1.1' in net }} {{ '.0' in net }}", "True True False True"),
        ("{{ host == '10.0.0.5/24' }} {{ host.ip == ip }} {{ net < host }}", "True True True"),
        ("{{ ip.words[3] }} {{ ip.reverse_dns }} {{ ip.is_private() }}", "5 5.0.0.10.in-addr.arpa. True"),
        ("{% for n in net.subnet(26) %}{{ n }} {% endfor %}", "10.0.0.0/26 10.0.0.64/26 10.0.0.128/26 10.0.0.192/26 "),
        (
            "{{ net.iter_hosts()|first }} {{ net.next() }} {{ net.supernet(23)|join }}",
            "10.0.0.1 10.0.1.0/24 10.0.0.0/23",
        ),
        (
            "{{ host.split('/')[0] }} {{ host|replace('/', '_') }} {{ host|tojson }}",
            '10.0.0.5 10.0.0.5_24 "10.0.0.5/24"',
        ),
        ("{{ [host, net, ip]|sort|join(' ') }}", "10.0.0.0/24 10.0.0.5/24 10.0.0.5"),
        ("{{ host|cidr_to_netmask if 0 }}{{ host.prefixlen|cidr_to_netmask }}", "255.255.255.0"),
    ],
)
def test_addresses_and_networks_are_values(source: str, expected: str) -> None:
    assert rendered(source) == expected


def test_addresses_sort_by_number() -> None:
    hosts = [Network(f"10.0.0.{number}/24") for number in (10, 9, 100)]
    listed = rendered("{{ [a, b, c]|sort|join(' ') }}", **dict(zip("abc", hosts, strict=True)))
    assert listed == "10.0.0.9/24 10.0.0.10/24 10.0.0.100/24"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ nothing }}|{{ none }}|{{ nothing is none }}", "||True"),
        ("a\n{{ nobody }}", "Line 2: 'nobody' is undefined"),
        ("{% if nobody %}x{% endif %}{{ nobody|default('y') }}{{ nobody is defined }}", "yFalse"),
        ("{% for x in nobody %}{% endfor %}", "Line 1: 'nobody' is undefined"),
        ("\n\n{{ host.netmak }}", "Line 3: a network has no attribute 'netmak'. Did you mean 'netmask'?"),
        ("{{ host.netmak|default('x') }} {{ host.netmak is defined }}", "x False"),
        ("{{ data.more }}|{{ data.inner.x }}|{{ data.list[7] }}|{{ []|first }}", "|||"),
        ("{% macro m() %}\n{{ 1 / 0 }}\n{% endmacro %}\n{{ m() }}", "Line 2: ZeroDivisionError: division by zero"),
    ],
)
def test_what_is_not_there_is_told_and_null_is_empty(source: str, expected: str) -> None:
    assert rendered(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{% set l = [] %}{% do l.append(1) %}{% do l.extend([3, 2]) %}{% do l.sort() %}{{ l }}", "[1, 2, 3]"),
        ("{% set d = {} %}{% do d.update({'a': 1}) %}{% do d.update(b=2) %}{{ d }}", "{'a': 1, 'b': 2}"),
        ("{% set d = {} %}{% do d.setdefault('a', []).append(1) %}{{ d }}{{ d.pop('a') }}{{ d }}", "{'a': [1]}[1]{}"),
        (
            "{% for i in range(9) %}{% if i == 1 %}{% continue %}{% elif i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}",
            "023",
        ),
        ("{% set l = data.list|list %}{% do l.append(3) %}{{ l }}{{ data.list }}", "[1, 2, 3][1, 2]"),
        ("{% set d = dict(data.inner, b=2) %}{% do d.update(c=3) %}{{ d }}", "{'a': 1, 'b': 2, 'c': 3}"),
    ],
)
def test_templates_change_their_own_values(source: str, expected: str) -> None:
    assert rendered(source) == expected


@pytest.mark.parametrize("call", ["data.list.append(3)", "data.inner.update(b=1)", "data.clear()", "data.list.sort()"])
def test_values_of_the_service_cannot_be_changed(call: str) -> None:
    both = [Rendering("{% do " + call + " %}", VALUES), Rendering("{{ data.list }}{{ data.inner }}", VALUES)]
    first, second = sandbox.render(both, LIMITS)
    assert isinstance(first, sandbox.RenderError) and "Line 1: " in str(first)
    assert second == "[1, 2]{'a': 1}"

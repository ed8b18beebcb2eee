"""Objects in templates: relations, querysets, methods and errors, over the API."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Unique

TEMPLATES = "/api/extras/export-templates/"
DEVICES, INTERFACES, ADDRESSES, PREFIXES = (
    "/api/dcim/devices/",
    "/api/dcim/interfaces/",
    "/api/ipam/ip-addresses/",
    "/api/ipam/prefixes/",
)


@pytest.fixture
def render(api: Api, unique: Unique) -> Any:
    """``render(path, code, …)``: the text of an export, or its error."""

    def export(path: str, code: str, reader: Api = api, **query: Any) -> str:
        label = {DEVICES: "dcim.device", ADDRESSES: "ipam.ipaddress", PREFIXES: "ipam.prefix", VLANS: "ipam.vlan"}[path]
        template = api.post(TEMPLATES, {"name": unique(), "content_type": label, "template_code": code})
        answer = reader.send("GET", path, query={"export": template["name"], **query}, status=[200, 400])
        api.delete(template["url"])
        return str(answer.json["export"][0]) if answer.status_int == 400 else answer.text

    return export


VLANS = "/api/ipam/vlans/"


@pytest.fixture
def devices(api: Api, make: Any, unique: Unique) -> Any:
    """``devices(number)``: devices of a site of their own, each with two interfaces and a primary address."""

    def post(number: int) -> tuple[Any, list[Any]]:
        site = api.post("/api/dcim/sites/", {"name": unique(), "status": "active"})
        maker, word = make("/api/dcim/manufacturers/"), unique()
        body = {
            "site": site["id"],
            "status": "active",
            "device_role": make("/api/dcim/device-roles/", color="ff0000")["id"],
        }
        kind = {"manufacturer": maker["id"], "model": word, "slug": word}
        body["device_type"] = api.post("/api/dcim/device-types/", kind)["id"]
        made = []
        for place in range(number):
            body["name"] = f"{word}-{place}"
            device = api.post(DEVICES, body)
            named = [("eth1", "1000base-t"), ("lo0", "virtual")]
            ports = [
                api.post(INTERFACES, {"device": device["id"], "name": name, "type": kind, "status": "active"})
                for name, kind in named
            ]
            address = {"address": f"10.9.{place}.7/26", "status": "active", "dns_name": f"d{place}.example.com"}
            address |= {"assigned_object_type": "dcim.interface", "assigned_object_id": ports[0]["id"]}
            address |= {"vrf": api.post("/api/ipam/vrfs/", {"name": unique()})["id"]}
            primary = api.post(ADDRESSES, address)
            made.append(api.patch(device["url"], {"primary_ip4": primary["id"]}))
        return site, made

    return post


def test_primary_addresses_are_whole_objects(render: Any, devices: Any) -> None:
    site, _ = devices(1)
    code = (
        "{% for d in queryset %}{{ d.primary_ip.address.ip }} {{ d.primary_ip4.dns_name }} {{ d.primary_ip.address }} "
        "{{ d.primary_ip.host }} {{ d.primary_ip.prefix_length }} {{ d.primary_ip.assigned_object.name }} "
        "{{ d.primary_ip4.address.netmask }} {{ d.primary_ip.assigned_object.device.site.slug }}{% endfor %}"
    )
    slug = site["slug"]
    expected = f"10.9.0.7 d0.example.com 10.9.0.7/26 10.9.0.7 26 eth1 255.255.255.192 {slug}"
    assert render(DEVICES, code, site=slug) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "{{ d.primary_ip6.address.ip }}|{{ [d.tenant, d.position]|join }}{{ d.position ~ '' }}|{{ d.tenant.group.name }}|{{ d.rack.get_utilization() }}",
            "|||",
        ),
        (
            "{% if not d.tenant and d.tenant is none and d.tenant == none %}{{ d.tenant.name|default('x', true) }}{% endif %}",
            "x",
        ),
        ("{{ d.primary_ip6.adress.ip }}", "Line 1: IP address has no attribute 'adress'. Did you mean 'address'?"),
        ("{{ d.primary_ip6.address.netmsk }}", "Line 1: a network has no attribute 'netmsk'. Did you mean 'netmask'?"),
        ("\n{{ d.nmae }}", "Line 2: device has no attribute 'nmae'. Did you mean 'name'?"),
        ("{% if d.tennant %}{% endif %}", "Line 1: device has no attribute 'tennant'. Did you mean 'tenant'?"),
        ("{{ d.site.regon.name }}", "Line 1: site has no attribute 'regon'. Did you mean 'region'?"),
        (
            "{{ d.interfaces.fliter(name='x') }}",
            "Line 1: a list of objects has no attribute 'fliter'. Did you mean 'filter'?",
        ),
        ("{{ d.nothing is defined }}{{ d.nothing|default('y') }}", "Falsey"),
    ],
)
def test_nulls_are_empty_and_unknown_names_are_errors(render: Any, devices: Any, code: str, expected: str) -> None:
    site, _ = devices(1)
    text = render(DEVICES, "{% for d in queryset %}" + code + "{% endfor %}", site=site["slug"])
    assert text.removeprefix("The template failed: ") == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("{{ d.interfaces.filter(name='eth1').count() }} {{ d.interfaces.exclude(type='virtual').first() }}", "1 eth1"),
        (
            "{{ d.interfaces.filter(name__startswith='e', enabled=True) }}|{{ d.interfaces.filter(name__isw='lo') }}",
            "eth1|lo0",
        ),
        ("{{ d.interfaces.order_by('-name')|join(',') }} {{ d.interfaces.order_by('name').last() }}", "lo0,eth1 lo0"),
        (
            "{{ d.interfaces.values_list('name', flat=True)|join(',') }} {{ d.interfaces.values('name') }}",
            "eth1,lo0 [{'name': 'eth1'}, {'name': 'lo0'}]",
        ),
        ("{{ d.interfaces.values_list('device__site__slug', flat=True).distinct()|length }}", "1"),
        ("{{ d.interfaces.get(name='lo0').type }} {{ d.interfaces.filter(name__in=['lo0', 'x'])[0] }}", "virtual lo0"),
        (
            "{{ d.interfaces.filter(device=d).exists() }} {{ d.interfaces.filter(ip_addresses__address__contains='10.9').count() }}",
            "True 1",
        ),
        ("{{ d.interfaces.filter(lag__isnull=True).count() }} {{ d.interfaces.filter(lag=none).count() }}", "2 2"),
        ("{{ d.interfaces.select_related('device').prefetch_related('tags').all()[0:1] }}", "eth1"),
        ("{{ d.interfaces.get(name__startswith='x') }}", "Line 1: LookupError: get() returned 0 objects, not one"),
        (
            "{{ d.interfaces.filter(nmae='x') }}",
            "Line 1: AttributeError: interface has no attribute 'nmae'. Did you mean 'name'?",
        ),
        (
            "{{ d.interfaces.filter(type='nosuch') }}",
            "Line 1: filter(type=…): type: Select a valid choice. nosuch is not one of the available choices.",
        ),
        (
            "{{ d.get_status_display() }} {{ d.tags.names()|list }} {{ d.get_config_context().x }} {{ d.tags.all().exists() }}",
            "Active []  False",
        ),
        (
            "{{ d|meta('verbose_name') }} {{ d|viewname('edit') }} {{ d.get_absolute_url()|length > 40 }}",
            "device dcim:device_edit True",
        ),
        ("{% for site, group in queryset|groupby('site') %}{{ group|length }}{% endfor %}", "1"),
    ],
)
def test_lists_have_the_methods_of_querysets(render: Any, devices: Any, code: str, expected: str) -> None:
    site, _ = devices(1)
    text = render(DEVICES, "{% for d in queryset %}" + code + "{% endfor %}", site=site["slug"])
    assert text.removeprefix("The template failed: ") == expected


LOOP = (
    "{% for d in queryset.filter(status='active').order_by('name') %}{{ d.name }} {{ d.primary_ip.address.ip }}"
    "{% for i in d.interfaces.filter(type__n='virtual') %} {{ i.name }}"
    "{% for a in i.ip_addresses.exclude(status='deprecated') %} {{ a.address }}{% endfor %}{% endfor %}\n{% endfor %}"
)


@pytest.mark.night
def test_the_number_of_statements_is_that_of_one_object(
    api: Api, unique: Unique, devices: Any, statements: Any
) -> None:
    body = {"name": unique(), "content_type": "dcim.device", "template_code": LOOP}
    template, counts = api.post(TEMPLATES, body), []
    for number in (1, 1, 5):
        site, made = devices(number)
        with statements() as found:
            text = api.send("GET", DEVICES, query={"export": template["name"], "site": site["slug"]}).text
        assert text.splitlines() == [f"{d['name']} 10.9.{n}.7 eth1 10.9.{n}.7/26" for n, d in enumerate(made)]
        counts.append(len(found))
    assert counts[1] == counts[2] <= 14


def test_lists_show_what_the_reader_may_view(render: Any, devices: Any, make_user: Any) -> None:
    site, _ = devices(1)
    code = (
        "{% for d in queryset %}{{ d.interfaces.count() }} {{ d.interfaces.filter(name='eth1').exists() }} "
        "{{ d.interfaces.values_list('name', flat=True)|list }} {{ d.primary_ip.address }} {{ d.primary_ip.dns_name }}."
        "{% endfor %}"
    )
    query = {"site": site["slug"]}
    reader = make_user(("view", ["dcim.device", "dcim.site"]))
    assert render(DEVICES, code, reader.api, **query) == "0 False [] 10.9.0.7/26 ."
    reader = make_user(
        ("view", ["dcim.device", "dcim.site", "ipam.ipaddress"]), ("view", "dcim.interface", {"name": "lo0"})
    )
    assert render(DEVICES, code, reader.api, **query) == "1 False ['lo0'] 10.9.0.7/26 d0.example.com."


def test_prefixes_know_what_is_in_them(api: Api, render: Any, unique: Unique, make_user: Any) -> None:
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})["id"]
    common = {"vrf": vrf, "status": "active"}
    outer, _ = api.post(PREFIXES, [{"prefix": "10.8.0.0/24", **common}, {"prefix": "10.8.0.128/25", **common}])
    api.post(ADDRESSES, [{"address": f"10.8.0.{number}/24", **common} for number in (1, 2, 9)])
    code = (
        "{% for p in queryset %}{{ p.prefix.network + 1 }} {{ p.prefix.prefixlen }} {{ p.network }} {{ p.broadcast }} "
        "{{ p.prefix_length }} {{ p.get_child_ips().count() }} {{ p.get_child_prefixes() }} "
        "{{ p.get_first_available_ip() }} {{ p.get_utilization() }} {{ p.get_utilization().denominator }}{% endfor %}"
    )
    query = {"id": outer["id"]}
    expected = "10.8.0.1 24 10.8.0.0 10.8.0.255 24 {} {} 10.8.0.3/24 {} 254"
    assert render(PREFIXES, code, **query) == expected.format(3, "10.8.0.128/25", 1)
    reader = make_user(("view", "ipam.prefix", {"id": outer["id"]}))
    assert render(PREFIXES, code, reader.api, **query) == expected.format(0, "", 0)


def test_vlans_know_their_interfaces(api: Api, render: Any, devices: Any, unique: Unique) -> None:
    site, made = devices(1)
    vlan = api.post(VLANS, {"name": unique(), "vid": 7, "status": "active", "site": site["id"]})
    for place, port in enumerate(api.get(INTERFACES, {"device_id": made[0]["id"]})["results"]):
        tagged = (
            {"mode": "tagged", "tagged_vlans": [vlan["id"]]}
            if place
            else {"mode": "access", "untagged_vlan": vlan["id"]}
        )
        api.patch(port["url"], tagged)
    code = "{% for v in queryset %}{{ v.get_interfaces() }} {{ v.get_vminterfaces().count() }}{% endfor %}"
    assert render(VLANS, code, id=vlan["id"]) == "eth1, lo0 0"

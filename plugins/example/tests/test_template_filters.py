"""The filter of templates that the example adds."""

from __future__ import annotations

from netinv_testing import Api, Unique


def test_the_filter_is_in_templates_of_every_model(api: Api, unique: Unique) -> None:
    site = api.post("/api/dcim/sites/", {"name": unique(), "status": "active"})
    code = "{% for s in queryset %}{{ 7|ticket }} {{ '12'|ticket('INC') }}{% endfor %}"
    body = {"name": unique(), "content_type": "dcim.site", "template_code": code}
    template = api.post("/api/extras/export-templates/", body)
    answer = api.send("GET", "/api/dcim/sites/", query={"export": template["name"], "id": site["id"]})
    assert answer.text == "CHG-0007 INC-0012"
    api.patch(template["url"], {"template_code": "x\n{{ 'x'|ticket }}"})
    answer = api.send("GET", "/api/dcim/sites/", query={"export": template["name"], "id": site["id"]}, status=400)
    assert "Line 2: ValueError: invalid literal for int()" in answer.json["export"][0]

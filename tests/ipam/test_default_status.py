"""The status of a prefix has a default, and descriptions of the API say so."""

from __future__ import annotations

from netinv_testing import Service


def test_descriptions_say_that_the_status_of_a_prefix_has_a_default(service: Service) -> None:
    """OPTIONS and OpenAPI; those of a site's say that it is required."""
    fields = {path: service.api.options(f"/api/{path}/")["actions"]["POST"] for path in ("ipam/prefixes", "dcim/sites")}
    assert (fields["ipam/prefixes"]["status"]["required"], fields["dcim/sites"]["status"]["required"]) == (False, True)
    assert fields["ipam/prefixes"]["status"]["default"] == "active"
    schemas = service.api.get("/api/swagger.json")["components"]["schemas"]
    assert "status" not in schemas["PrefixRequest"]["required"]
    assert "status" in schemas["SiteRequest"]["required"]

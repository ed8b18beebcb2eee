"""What NetBox's tags become here: there a tag may be on anything, here it names the types it may be on."""

from __future__ import annotations

from netinv_core.dumps import Part, Source
from netinv_core.model import Primary
from netinv_core.registry import Registry


def models(registry: Registry) -> dict[str, Source | Part]:
    """The models of NetBox's application ``extras``."""
    taggable = sorted(endpoint.label for endpoint in registry.endpoints.values() if issubclass(endpoint.model, Primary))
    return {
        "extras.tag": Source("extras.tag", given={"content_types": taggable}),
        "extras.taggeditem": Part("tags", owner=("content_type", "object_id"), value="tag", of="extras.tag"),
    }

"""Tab with the objects that break a validation rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyramid.request import Request

from netinv_extras.validation_rules.violations import broken_by
from netinv_web.extensions import ListTab


def _violations(request: Request, rule: Mapping[str, Any]) -> list[Any]:
    return [broken_by(request.uow, rule["id"])[1]]


TAB = ListTab(
    "violations",
    "Violations",
    lambda rule: str(rule["content_type"]),
    _violations,
    lambda rule: None,
    100,
    api_path=lambda rule: f"/api/extras/validation-rules/{rule['id']}/violations/",
    counted=False,
)

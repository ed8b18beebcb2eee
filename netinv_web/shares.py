"""Bars of utilisation: elements ``meter``, which take their colour from thresholds, with the percentage beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from netinv_core.fields import Share
from netinv_core.labels import label_of_name

if TYPE_CHECKING:
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet

WARNING, DANGER = "utilization_warning", "utilization_danger"  # settings: percent from which a bar has another colour
NAMED = {"ipv4": "IPv4", "ipv6": "IPv6"}
# ``max`` is 100 whatever the size, which may be too large for HTML. With ``optimum`` 0 a value up to ``low`` is good,
# one up to ``high`` is a warning.
_BAR = Markup(
    '<span class="share">{name}<meter min="0" max="100" low="{low}" high="{high}" optimum="0" value="{value}"'
    ' aria-label="{title}" title="{title}"></meter> <span>{percent} %</span></span>'
)


def bar(registry: Registry, share: Share | Mapping[str, Any], name: str = "") -> Markup:
    """The bar of a share, or of its representation; ``name`` says which one it is beside others."""
    value = share.represented() if isinstance(share, Share) else share
    used, size, percent = value["used"], value["size"], float(value["percent"])
    title = f"{name}: " if name else ""
    settings = registry.settings
    high = int(settings[DANGER])
    return _BAR.format(
        name=Markup("<span>{}</span> ").format(name) if name else "",
        low=min(int(settings[WARNING]), high),
        high=high,
        value=f"{min(percent, 100.0):.2f}",
        title=f"{title}{amount(used)} of {amount(size)} {value['unit']}",
        percent=percent_text(percent),
    )


def percent_text(percent: float) -> str:
    """A percentage for people: whole numbers, but what is little is not nothing, and what is almost full not full."""
    if 0 < percent < 1:
        return "< 1"
    return str(int(percent))


def amount(number: float) -> str:
    """A number for people, in groups of thousands; a power of ten for what has too many digits."""
    return f"{number:,}" if number < 1_000_000_000_000 else f"{float(number):.1e}"


def bars(value: Any, registry: Registry) -> Markup:
    """The bars of a representation: one, or one for each name."""
    if not isinstance(value, Mapping) or not value:
        return Markup('<span class="none">–</span>')
    if "percent" in value:
        return bar(registry, value)
    named = [bar(registry, share, NAMED.get(name, label_of_name(name))) for name, share in value.items()]
    return Markup('<span class="shares">{}</span>').format(Markup(" ").join(named))


def cell(plan: ReadPlan, place: JoinedTable, field: Field) -> Any:
    """The reader of the cells of utilisation."""
    read = plan.reader_of(place, field)

    def markup(row: Any, page: RowSet) -> Markup:
        return bars(read(row, page), page.uow.registry)

    return markup

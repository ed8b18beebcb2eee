"""Sorts of view derivers and predicates, which are kept."""

from __future__ import annotations

from typing import Any

from pyramid.config import Configurator
from pyramid.interfaces import IPredicateList, IViewDerivers

from netinv_core.http.kept_sorting import KeptSorter


def test_sorts_are_those_of_pyramid_and_follow_what_is_added_later() -> None:
    usual, kept = Configurator(), Configurator()
    kept.include("netinv_core.http.kept_sorting")
    assert isinstance(kept.registry.getUtility(IViewDerivers), KeptSorter)
    assert _orders(kept) == _orders(usual)
    for config in (usual, kept):
        config.add_view_deriver(_deriver, name="further", under="rendered_view", over="mapped_view")
        config.add_view_predicate("further", _Predicate, weighs_less_than="xhr")
        config.commit()
    assert "further" in _orders(kept)[0]
    assert _orders(kept) == _orders(usual)


def _orders(config: Configurator) -> list[list[str]]:
    sorters = [config.registry.getUtility(IViewDerivers)]
    sorters += [predicates.sorter for _, predicates in sorted(config.registry.getUtilitiesFor(IPredicateList))]
    return [[name for name, _ in sorter.sorted()] for sorter in sorters]


def _deriver(view: Any, info: Any) -> Any:
    return view


class _Predicate:
    def __init__(self, value: Any, config: Any) -> None:
        pass

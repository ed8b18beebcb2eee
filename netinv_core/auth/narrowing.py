"""Permissions of a token that is limited to some actions and object types of its user."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

ACTIONS = ("view", "add", "change", "delete")  # that every resource may have


@dataclasses.dataclass(frozen=True)
class Unconstrained(Mapping[tuple[str, str], list[Any]]):
    """The permissions of a superuser's token that is limited to ``labels``, to ``actions`` (empty: any), or both."""

    labels: Sequence[str]
    actions: Sequence[str]

    def __getitem__(self, key: tuple[str, str]) -> list[Any]:
        label, action = key
        if label not in self.labels or (self.actions and action not in self.actions):
            raise KeyError(key)
        return [{}]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((label, action) for label in self.labels for action in self.actions or ACTIONS)

    def __len__(self) -> int:
        return len(self.labels) * len(self.actions or ACTIONS)


def narrow(
    permissions: Mapping[tuple[str, str], list[Any]], actions: Sequence[str], labels: Sequence[str]
) -> Mapping[tuple[str, str], list[Any]]:
    """Returns those of a user's permissions to which a token is limited; an empty list is no limit."""
    return {
        (label, action): constraints
        for (label, action), constraints in permissions.items()
        if (not labels or label in labels) and (not actions or action in actions)
    }

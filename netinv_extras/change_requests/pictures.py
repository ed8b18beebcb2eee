"""Pictures of what proposed changes show in, such as the racks of moved devices: as it is, and as it would be.

Packages name them by the hook ``netinv_change_pictures``. Each is an image of this service: the one path is read in the
change request and outside of it, with the permissions of whoever looks.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from netinv_core.auth import permissions
from netinv_core.changelog.models import CREATE, DELETE
from netinv_core.errors import Conflict
from netinv_core.http.request_uow import RequestUnitOfWork
from netinv_core.write.dry_run import ObjectName
from netinv_extras.change_requests import entering
from netinv_extras.change_requests.entering import LIVE, PARAMETER
from netinv_extras.change_requests.proposals import Proposal

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_PICTURES = 100  # that are shown or linked


@dataclasses.dataclass(frozen=True)
class ChangePicture:
    """A picture of the object with this label and id: the path of an image, and the name of what it shows.

    Pictures of one ``kind``, a heading, are together; the first ``most`` of them are shown, the others are links.
    ``shows(uow, pictures)`` returns what pictures show at the moment, by their paths, without those that show nothing:
    those that show the same, before the changes and after them, are one.
    """

    kind: str
    most: int
    label: str
    key: uuid.UUID
    name: str
    path: str
    shows: Callable[[UnitOfWork, Sequence[ChangePicture]], Mapping[str, Hashable]] | None = None


@dataclasses.dataclass(frozen=True)
class PictureState:
    """State of a picture before or after the changes.

    ``path`` is blank where the user may view nothing. ``shows`` identifies the content; ``None`` for none or unknown.
    """

    path: str = ""
    shows: Hashable = None

    def fits(self, other: PictureState) -> bool:
        """True unless the two show different things."""
        return self.shows is None or other.shows is None or self.shows == other.shows

    def fuller(self, other: PictureState) -> PictureState:
        """The one that shows something, or is there at all."""
        return other if self.shows is None and (other.shows is not None or not self.path) else self


@dataclasses.dataclass(frozen=True)
class PicturePair:
    """A picture before and after the changes."""

    picture: ChangePicture
    states: tuple[PictureState, PictureState]

    @property
    def before(self) -> str:
        """The path of the picture without the changes; blank where there is nothing that the user may view."""
        return self.states[0].path

    @property
    def after(self) -> str:
        """The path with them."""
        return self.states[1].path

    def is_same(self, other: PicturePair) -> bool:
        """True for a picture of the same thing: in one state at least, and of nothing else in the other."""
        together = list(zip(self.states, other.states, strict=True))
        is_common = any(one.shows is not None and one.shows == two.shows for one, two in together)
        return is_common and all(one.fits(two) for one, two in together)

    def with_other(self, other: PicturePair) -> PicturePair:
        """The one picture of the same thing."""
        (before, other_before), (after, other_after) = zip(self.states, other.states, strict=True)
        return PicturePair(self.picture, (before.fuller(other_before), after.fuller(other_after)))


def pairs_of(
    uow: RequestUnitOfWork, key: uuid.UUID, proposed: Sequence[Proposal], seen: Sequence[Proposal]
) -> tuple[list[PicturePair], bool]:
    """The pictures of the proposals that the user may view, and whether the changes can be made: without that there are
    none after them. Two statements for each model with objects in pictures, none without constraints; those of
    ``shows``, whatever the number of pictures.
    """
    named = [picture for found in uow.registry.hooks.netinv_change_pictures(changes=seen) for picture in found]
    pictures = list({picture.path: picture for picture in named}.values())[:MAX_PICTURES]
    if not pictures:
        return [], True
    actions = {(item.endpoint.label, item.key): item.action for item in proposed}

    def states(value: str, missing: str) -> dict[str, PictureState]:
        there = [item for item in pictures if actions.get((item.label, item.key)) != missing]
        visible = _visible(uow, there)
        seen = [item for item in there if (item.label, str(item.key)) in visible]
        shown = _read_pictures(uow, seen)
        return {item.path: PictureState(_within(item.path, value), shown.get(item.path)) for item in seen}

    before, after, possible = states(LIVE, CREATE), {}, True
    try:
        with entering.carried_out(uow, proposed, key):
            after = states(str(key), DELETE)
    except Conflict:
        possible = False
    none = PictureState()
    pairs = [PicturePair(item, (before.get(item.path, none), after.get(item.path, none))) for item in pictures]
    return _each_once(pair for pair in pairs if pair.before or pair.after), possible


def _read_pictures(uow: UnitOfWork, pictures: Sequence[ChangePicture]) -> dict[str, Hashable]:
    """The contents of pictures at the moment, by their paths; empty where there are not several of a kind."""
    found: dict[str, Hashable] = {}
    for shows in dict.fromkeys(item.shows for item in pictures):
        alike = [item for item in pictures if item.shows is shows]
        if shows is not None and len(alike) > 1:
            found |= shows(uow, alike)
    return found


def _each_once(pairs: Iterable[PicturePair]) -> list[PicturePair]:
    """The pictures, of which those of the same thing are one."""
    kept: list[PicturePair] = []
    for pair in pairs:
        place = next((place for place, other in enumerate(kept) if other.is_same(pair)), None)
        if place is None:
            kept.append(pair)
        else:
            kept[place] = kept[place].with_other(pair)
    return kept


def by_kind(pairs: Iterable[PicturePair]) -> list[tuple[str, list[PicturePair], list[PicturePair]]]:
    """Kinds of pictures with those that are shown, and those that are links."""
    kinds: dict[str, list[PicturePair]] = {}
    for pair in pairs:
        kinds.setdefault(pair.picture.kind, []).append(pair)
    most = {kind: found[0].picture.most for kind, found in kinds.items()}
    return [(kind, found[: most[kind]], found[most[kind] :]) for kind, found in kinds.items()]


def _within(path: str, value: str) -> str:
    """A path that is read in a change request, or outside of any."""
    return f"{path}{'&' if '?' in path else '?'}{PARAMETER}={value}"


def _visible(uow: RequestUnitOfWork, pictures: Iterable[ChangePicture]) -> set[ObjectName]:
    """The objects of pictures that the user may view now."""
    keys: dict[Endpoint, set[uuid.UUID]] = {}
    for picture in pictures:
        keys.setdefault(uow.registry[picture.label], set()).add(picture.key)
    found: Mapping[Endpoint, set[uuid.UUID]] = {
        endpoint: permissions.visible_ids(uow, endpoint, list(group)) for endpoint, group in keys.items()
    }
    return {(endpoint.label, str(key)) for endpoint, group in found.items() for key in group}

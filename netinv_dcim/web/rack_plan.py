"""Plans of moves of devices in racks: parameters of the page of elevations, tried in a dry run, applied at once.

A plan is the query of the page, so that it can be shared as a link: ``_move=<device>:<rack>:<unit>:<face>`` mounts a
device, ``_move=<device>:<rack>`` takes it out of its units. All moves are one bulk update: devices can exchange places.
"""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied, Invalid
from netinv_core.sql.plan import Row
from netinv_core.sql.plans import custom_plan
from netinv_core.write import save
from netinv_core.write.dry_run import dry_run
from netinv_dcim.choices import FACES
from netinv_dcim.device_types import DeviceType
from netinv_dcim.devices import OCCUPIED, Device
from netinv_dcim.rack_position import CHILD, Mounted
from netinv_dcim.rack_views.drawing_data import visible
from netinv_dcim.racks import Rack
from netinv_web import notices
from netinv_web.bulk.preview import attempt, messages_of
from netinv_web.forms.deletion import trial
from netinv_web.lists.list_query import ListQuery
from netinv_web.menu import may
from netinv_web.pages import see_other

if TYPE_CHECKING:
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet
    from netinv_core.uow import UnitOfWork

MOVE, SELECT, PLANNING = "_move", "_select", "_plan"
TO_RACK, TO_UNIT, TO_FACE = "_rack", "_unit", "_to"  # fields of the form that adds a move
TAKEN_BACK = "_back"  # parameter: the device whose move is taken back
MAX_MOVES = 100
MAX_LISTED = 50  # devices without a position
_MEMBERS = ("id", "display", "rack", "position", "face", "site")


@dataclasses.dataclass(frozen=True)
class Move:
    """A device and the place it moves to; without a ``unit`` it is in the rack, but not mounted."""

    device: uuid.UUID
    rack: uuid.UUID
    unit: int | None = None
    face: str = ""

    @property
    def text(self) -> str:
        """The move as in the query."""
        return f"{self.device}:{self.rack}:{self.unit}:{self.face}" if self.unit else f"{self.device}:{self.rack}"


def parse_move(text: str) -> Move:
    """The move that a parameter states.

    :raises Invalid: for any other text
    """
    parts = text.split(":")
    try:
        device, rack = uuid.UUID(parts[0]), uuid.UUID(parts[1])
        if len(parts) == 2:
            return Move(device, rack)
        unit, face = parts[2:]
        if unit.isascii() and unit.isdecimal() and 0 < int(unit) < 1000 and face in FACES.labels:
            return Move(device, rack, int(unit), face)
    except (ValueError, IndexError):
        pass
    raise Invalid({MOVE: [f'"{text[:100]}" is not a move: <device>:<rack>:<unit>:<face> or <device>:<rack>.']})


def apply_form(query: ListQuery) -> ListQuery | None:
    """The query with the move of the chosen device that the form has sent, or without the one that is taken back;
    ``None`` without either.

    :raises Invalid: for a rack, unit or face that is none
    """
    if taken_back := query.values(TAKEN_BACK):
        kept = [text for text in query.values(MOVE) if not text.startswith(f"{taken_back[-1]}:")]
        return query.without(TAKEN_BACK).with_values(MOVE, kept)
    racks, devices = query.values(TO_RACK), query.values(SELECT)
    if not racks or not devices:
        return None
    units, faces = query.values(TO_UNIT), query.values(TO_FACE)
    place = f":{units[-1]}:{faces[-1] if faces else 'front'}" if units else ""
    return with_move(query.without(TO_RACK, TO_UNIT, TO_FACE, SELECT), parse_move(f"{devices[-1]}:{racks[-1]}{place}"))


@dataclasses.dataclass(frozen=True)
class Chosen:
    """The device that is chosen to be moved, with its size in units, and where it is, or is planned to be."""

    id: uuid.UUID
    name: str
    height: int
    deep: bool
    place: Move | None = None


def chosen_device(uow: UnitOfWork, query: ListQuery) -> Chosen | None:
    """The chosen device of a query, if the user may view it: one statement."""
    texts = query.values(SELECT)
    try:
        key = uuid.UUID(texts[-1]) if texts and texts[-1] else None
    except ValueError:
        raise Invalid({SELECT: [f'"{texts[-1][:100]}" is not a valid UUID.']}) from None
    device, kind = Device.__table__, DeviceType.__table__
    place = (device.c.rack_id, device.c.position, device.c.face)
    statement = (
        sa.select(device.c.id, device.c.name, kind.c.model, kind.c.u_height, kind.c.is_full_depth, *place)
        .join_from(device, kind, kind.c.id == device.c.device_type_id)
        .where(device.c.id == key, *visible(uow, Device))
    )
    row = uow.execute(statement).first() if key is not None else None
    if row is None:
        return None
    here = Move(row.id, row.rack_id, row.position, row.face or "") if row.rack_id is not None else None
    planned = next((move for move in moves_of(query) if move.device == row.id), here)
    return Chosen(row.id, row.name or row.model, row.u_height, row.is_full_depth, planned)


def moves_of(query: ListQuery) -> list[Move]:
    """The moves of a query; of several for one device, the last.

    :raises Invalid: for what is no move, and for too many
    """
    texts = query.values(MOVE)
    if len(texts) > MAX_MOVES:
        raise Invalid({MOVE: [f"A plan has at most {MAX_MOVES} moves."]})
    return list({move.device: move for move in map(parse_move, texts)}.values())


def with_move(query: ListQuery, move: Move) -> ListQuery:
    """The query with another move, in the place of one of the same device."""
    kept = [text for text in query.values(MOVE) if not text.startswith(f"{move.device}:")]
    return query.with_values(MOVE, [*kept, move.text])


def last_moves(query: ListQuery) -> ListQuery:
    """The query with one move for each device, the last: the form of the plan adds a move behind the others."""
    by_device = {text.partition(":")[0]: text for text in query.values(MOVE)}
    return query.with_values(MOVE, by_device.values()) if len(by_device) < len(query.values(MOVE)) else query


@dataclasses.dataclass(frozen=True)
class PlannedMove:
    """A move as the page lists it; ``device`` is its id. ``errors`` say why it is refused."""

    name: str
    before: str
    after: str
    device: str
    errors: Sequence[str]


@dataclasses.dataclass
class RackPlan:
    """The moves of a page, with the devices and racks they name. Of refused ones there are the errors, and the names of
    what is in their way, by device.
    """

    query: ListQuery
    moves: Sequence[Move]
    devices: Mapping[Any, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    racks: Mapping[Any, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    errors: dict[Any, Any] = dataclasses.field(default_factory=dict)
    obstacles: dict[Any, list[str]] = dataclasses.field(default_factory=dict)

    @property
    def to_other_racks(self) -> dict[uuid.UUID, uuid.UUID]:
        """The racks of the devices that change theirs, by id, without refused moves."""
        moves = (move for move in self.moves if move.device not in self.errors)
        return {move.device: move.rack for move in moves if self.former_rack(move) != move.rack}

    @property
    def affected(self) -> set[uuid.UUID | None]:
        """The racks that moves lead from or to, without refused moves."""
        moves = [move for move in self.moves if move.device not in self.errors]
        return {rack for move in moves for rack in (move.rack, self.former_rack(move))}

    def former_rack(self, move: Move) -> uuid.UUID | None:
        """The rack that a device is in now."""
        rack = self.devices[move.device]["rack"]
        return uuid.UUID(str(rack["id"])) if rack else None

    @property
    def bodies(self) -> dict[uuid.UUID, dict[str, Any]]:
        """The changes of the devices by id, as bodies of the API. A device moves to the site of its rack."""
        bodies = {}
        for move in self.moves:
            place = {"rack": str(move.rack), "position": move.unit, "face": move.face}
            rack, device = self.racks[move.rack], self.devices[move.device]
            if rack["site"]["id"] != device["site"]["id"]:
                location = rack["location"]
                place |= {"site": rack["site"]["id"], "location": location["id"] if location else None}
            bodies[move.device] = place
        return bodies

    def lines(self) -> list[PlannedMove]:
        """The moves as the page lists them, refused ones first."""
        lines = [
            PlannedMove(
                str(self.devices[move.device]["display"]),
                _place_text(self.devices[move.device]),
                _text(self.racks[move.rack]["display"], move.unit, move.face),
                str(move.device),
                self._reasons(move.device),
            )
            for move in self.moves
        ]
        return sorted(lines, key=lambda line: not line.errors)

    def _reasons(self, key: uuid.UUID) -> list[str]:
        """The messages of a refused move, without the sentences about the unique set, which say that the place is taken
        once more, and with what takes it.
        """
        if key not in self.errors:
            return []
        again = f" {OCCUPIED.partition('. ')[2]}"
        texts = [text.partition(again)[0] for text in messages_of(self.errors[key])]
        return texts + ([f"In the way: {', '.join(self.obstacles[key])}."] if self.obstacles.get(key) else [])


def _place_text(device: Mapping[str, Any]) -> str:
    """The present place of a device."""
    if not device["rack"]:
        return "no rack"
    return _text(device["rack"]["display"], device["position"], device["face"])


def _text(rack: str, unit: int | None, face: str) -> str:
    return f"{rack} U{unit} {FACES.labels[face].lower()}" if unit else f"{rack}, not mounted"


def plan_of(request: Request, query: ListQuery) -> RackPlan:
    """The plan of a query.

    :raises Denied: for users who may not change devices
    :raises Invalid: for moves of devices or racks that the user may not view
    """
    uow = request.uow
    plan = RackPlan(query, moves_of(query))
    endpoint = uow.registry.of_model(Device)
    if not may(uow, endpoint, "change"):
        raise Denied(missing=(endpoint.label, "change"))
    if not plan.moves:
        return plan
    plan.devices = _visible_objects(uow, Device, [move.device for move in plan.moves], _MEMBERS)
    plan.racks = _visible_objects(uow, Rack, [move.rack for move in plan.moves], ("id", "display", "site", "location"))
    for move in plan.moves:
        if move.device not in plan.devices or move.rack not in plan.racks:
            raise Invalid({MOVE: [f'"{move.text}" names a device or a rack that does not exist.']})
    return plan


def _visible_objects(uow: UnitOfWork, model: Any, keys: Sequence[Any], names: Sequence[str]) -> dict[Any, Any]:
    """These members of the objects that the user may view, by id: two statements."""
    endpoint = uow.registry.of_model(model)
    table = endpoint.table
    statement = sa.select(table.c.id).where(in_parameter(table.c.id), *visible(uow, model))
    seen = list(uow.execute(statement, {"keys": list(set(keys))}).scalars())

    def build(plan: ReadPlan, place: JoinedTable) -> Any:
        readers = [(name, plan.read(place, name)) for name in names]

        def read(row: Row, page: RowSet) -> dict[str, Any]:
            return {name: reader(row, page) for name, reader in readers}

        return read

    return dict(custom_plan(endpoint, ("rack plan", *names), build).fetch(uow, seen))


def obstacles(uow: UnitOfWork, plan: RackPlan, others: Collection[Mounted]) -> dict[Any, list[Mounted]]:
    """The devices that are in the way of refused moves, by the id of what was to move. Takes one statement, none
    without refused moves.
    """
    refused = {move.device: move for move in plan.moves if move.device in plan.errors and move.unit}
    if not refused:
        return {}
    device, kind = Device.__table__, DeviceType.__table__
    statement = (
        sa.select(device.c.id, kind.c.u_height, kind.c.is_full_depth)
        .join_from(device, kind, kind.c.id == device.c.device_type_id)
        .where(in_parameter(device.c.id))
    )
    found = {}
    for key, height, deep in uow.execute(statement, {"keys": list(refused)}):
        move = refused[key]
        wanted = Mounted(key, move.rack, move.unit or 0, move.face, height, deep)
        found[key] = [other for other in others if wanted.meets(other)]
    return found


@contextlib.contextmanager
def try_moves(request: Request, plan: RackPlan) -> Iterator[UnitOfWork]:
    """A unit of work in which the moves are made, without effect. Refused moves are ``plan.errors``."""
    if not plan.moves:
        yield request.uow
        return
    with trial(request) as uow, dry_run(uow):
        bodies = plan.bodies

        def update(keys: Sequence[Any]) -> object:
            items = [{**bodies[key], "id": str(key)} for key in keys]
            return save.update(uow, uow.registry.of_model(Device), items, partial=True, listed=True)

        attempt(uow, list(bodies), update, plan.errors)
        yield uow


def apply(request: Request, plan: RackPlan) -> Response:
    """Makes the moves as one bulk update, and leads to the page without the plan.

    :raises RequestError: for refused moves
    """
    uow = request.uow
    items = [{**body, "id": str(key)} for key, body in plan.bodies.items()]
    save.update(uow, uow.registry.of_model(Device), items, partial=True, listed=True)
    count = len(items)
    text = "1 device was moved." if count == 1 else f"{count} devices were moved."
    return notices.add(
        request, see_other(page_without_plan(plan.query)), notices.Notice(text, undo=str(uow.request_id))
    )


def page_without_plan(query: ListQuery) -> str:
    """The page without the plan."""
    return query.without(MOVE, SELECT, PLANNING).url


def read_unmounted(uow: UnitOfWork, racks: Sequence[Any], sites: Iterable[Any], *, flat: bool = False) -> list[Any]:
    """The devices that could be mounted: those in these racks without a position, and those at the sites without a
    rack. With ``flat`` also those in the racks that take no units, such as power strips. Rows with id, name, height and
    rack, at most :data:`MAX_LISTED` and one more. One statement.
    """
    device, kind = Device.__table__, DeviceType.__table__
    statement = (
        sa.select(device.c.id, device.c.name, device.c.rack_id, kind.c.model, kind.c.u_height, kind.c.is_full_depth)
        .join_from(device, kind, kind.c.id == device.c.device_type_id)
        .where(
            device.c.position.is_(None),
            (kind.c.u_height > 0) | (device.c.rack_id.is_not(None) if flat else sa.false()),
            kind.c.subdevice_role != CHILD,
            sa.or_(
                in_parameter(device.c.rack_id),
                sa.and_(device.c.rack_id.is_(None), in_parameter(device.c.site_id, "sites")),
            ),
            *visible(uow, Device),
        )
        .order_by(device.c.rack_id.is_(None), device.c.name_key, device.c.id)
        .limit(MAX_LISTED + 1)
    )
    values = {"keys": list(racks), "sites": list(set(sites))}
    return list(uow.execute(statement, values)) if racks else []

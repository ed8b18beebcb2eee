"""The parts of a comparison, in order, each over the inventory that :meth:`Run.build` made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from compare import bodies, change_log, options, queries
from compare.pair import Pair
from compare.script import FOLDER, Request, Scenario, scenarios
from compare.service import Answer

INVENTORY = FOLDER / "inventory.txt"
EXAMPLES = FOLDER / "examples.txt"


@dataclasses.dataclass
class Run:
    """A comparison that goes on: the services, the models asked for, the inventory's requests."""

    pair: Pair
    wanted: Callable[[str], bool]
    inventory: list[Request] = dataclasses.field(default_factory=list)
    created: list[Request] = dataclasses.field(default_factory=list)

    def build(self) -> None:
        """Creates the inventory on both services; differences in the answers count."""
        for scenario in scenarios(INVENTORY):
            for request in scenario.requests:
                answers = self.pair.compare("inventory", _model(request), scenario.title, request)
                self.inventory.append(request)
                if request.method == "POST" and any(answer.status == 201 for answer in answers):
                    self.created.append(request)

    def tear_down(self) -> None:
        """Deletes what is left of the inventory, in two rounds for what protects each other."""
        for _ in range(2):
            for request in reversed(self.created):
                self.pair.call(Request("DELETE", f"{request.path}/${request.label}"))


def _model(request: Request) -> str:
    return request.path.partition("?")[0].replace("/", ".", 1).split("/")[0]


def rules(run: Run) -> None:
    """The scenarios of the rules' files."""
    for path in sorted(FOLDER.glob("rules_*.txt")):
        for scenario in scenarios(path):
            if run.wanted(scenario.model):
                play(run.pair, scenario)


def play(pair: Pair, scenario: Scenario, part: str = "rules") -> None:
    """Sends the requests of a scenario, then deletes what they created."""
    created: list[str] = []
    for request in scenario.requests:
        named = (
            dataclasses.replace(request, label="probe")
            if request.label is None and request.method == "POST"
            else request
        )
        answers = pair.compare(part, scenario.model, scenario.title, named)
        made = [
            service for service, answer in zip((pair.first, pair.second), answers, strict=True) if answer.status == 201
        ]
        if request.method != "POST" or not made or isinstance(request.body, list):
            continue
        if request.label is None:
            pair.call(Request("DELETE", f"{_list_of(request, answers)}/$probe"))
            for service in (pair.first, pair.second):
                service.unbind("probe")
        else:
            created.append(f"{_list_of(request, answers)}/${request.label}")
    for path in [*reversed(created), *reversed(created)]:
        pair.call(Request("DELETE", path))
    for path in created:
        for service in (pair.first, pair.second):
            service.unbind(path.rpartition("$")[2])


def _list_of(request: Request, answers: Sequence[Answer]) -> str:
    """The path of the list that holds what a POST created, which for an allocation is another one than it was sent
    to.
    """
    urls = [
        str(answer.body["url"])
        for answer in answers
        if answer.status == 201 and isinstance(answer.body, dict) and "url" in answer.body
    ]
    return urls[0].removeprefix("/api/").rsplit("/", 2)[0] if urls else request.path


def dismantle(run: Run) -> None:
    """Deletes the inventory in the order it was made: what protects and what goes along, in the answers and in a
    census.
    """
    for _ in range(2):
        for request in run.created:
            run.pair.compare(
                "dismantle", _model(request), "delete", Request("DELETE", f"{request.path}/${request.label}")
            )
        for request in run.created:
            run.pair.compare("dismantle", _model(request), "left", Request("GET", f"{request.path}/${request.label}"))
    for request in reversed(run.created):
        run.pair.compare(
            "dismantle", _model(request), "delete backwards", Request("DELETE", f"{request.path}/${request.label}")
        )


PARTS: dict[str, Callable[[Run], None]] = {
    "options": lambda run: options.compare(run.pair, run.wanted),
    "changes": lambda run: change_log.compare(run.pair, run.wanted, run.inventory),
    "bodies": lambda run: bodies.compare(run.pair, run.wanted, scenarios(EXAMPLES)),
    "queries": lambda run: queries.compare(run.pair, run.wanted, run.inventory),
    "rules": rules,
    "dismantle": dismantle,
}

"""The two services side by side: each request is sent to both at once, and the answers are compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from compare.script import Request
from compare.service import Answer, Service, UnknownLabel

ABSENT = "<absent>"


@dataclasses.dataclass(frozen=True)
class Difference:
    """Two answers, or members of them, that are not the same."""

    part: str
    model: str
    title: str
    request: str
    member: str
    first: Any
    second: Any

    def __str__(self) -> str:
        member, space = self.member, " " * len(self.member)
        first, second = shortened(self.first), shortened(self.second)
        return f"{self.request[:400]}\n    {member}: {first}\n    {space}  {second}"


def shortened(value: Any) -> str:
    """A value in no more than 300 characters."""
    text = repr(value)
    return text if len(text) <= 300 else text[:300] + "…"


class Pair:
    """The services, what was compared so far and what differed; ``told`` is called with each difference as it is
    found.
    """

    def __init__(self, first: Service, second: Service, told: Callable[[Difference], None]) -> None:
        self.first, self.second = first, second
        self._told = told
        self.compared = 0
        self.differences: list[Difference] = []
        self._pool = ThreadPoolExecutor(2)

    def call(self, request: Request) -> tuple[Answer, Answer]:
        """Both answers; status 0 stands for a request that names an object which this service does not have."""

        def ask(service: Service) -> Answer:
            try:
                return service.call(request.method, request.path, request.body)
            except UnknownLabel as error:
                return Answer(0, f"<no {error}>")

        first, second = self._pool.map(ask, (self.first, self.second))
        if request.label is not None:
            for service, answer in ((self.first, first), (self.second, second)):
                if answer.status in (200, 201) and answer.id is not None:
                    service.bind(request.label, answer.id)
        return first, second

    def compare(self, part: str, model: str, title: str, request: Request) -> tuple[Answer, Answer]:
        """Sends a request to both and notes the differences of the answers."""
        first, second = self.call(request)
        self.note(part, model, title, request, first, second)
        return first, second

    def note(self, part: str, model: str, title: str, request: Request, first: Answer, second: Answer) -> None:
        """Notes the differences of two answers: of their status, else of the members of their bodies."""
        self.compared += 1
        if first.status != second.status:
            self._add(Difference(part, model, title, str(request), "status", _told_by(first), _told_by(second)))
            return
        for member, one, other in differing(first.body, second.body):
            self._add(Difference(part, model, title, str(request), member or "body", one, other))

    def _add(self, difference: Difference) -> None:
        self.differences.append(difference)
        self._told(difference)


def _told_by(answer: Answer) -> tuple[int, Any]:
    """The status, and the body of an error."""
    return answer.status, answer.body if answer.status >= 300 else "…"


def differing(first: Any, second: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The members in which two bodies differ, as path and both values."""
    if isinstance(first, dict) and isinstance(second, dict):
        for name in [*first, *(name for name in second if name not in first)]:
            yield from differing(first.get(name, ABSENT), second.get(name, ABSENT), f"{path}.{name}" if path else name)
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from differing(one, other, f"{path}[{number}]")
    elif first != second or type(first) is not type(second):
        yield path, first, second

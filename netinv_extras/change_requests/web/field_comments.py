"""Comments at the changed fields on the page of a change request, and the form that writes one there.

A link at a field opens the form: the page with the parameter ``_comment``, so that no script is needed and the page
has one form, however many fields there are. It has no fragment, with which browsers would not focus the form.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from pyramid.request import Request

from netinv_extras.change_requests import comments, lifecycle, proposals, review
from netinv_extras.change_requests.comments import CHANGED, GONE, About
from netinv_extras.change_requests.models import EVENTS
from netinv_extras.change_requests.proposals import Proposal
from netinv_extras.changelog.web.differences import Sentence
from netinv_web.markup import time_markup
from netinv_web.pages import query_text

PARAMETER = "_comment"
MAX_LINKED = 500  # fields of a page with a link of their own; for others there is that of the object
STANDING = {CHANGED: "What it is about was changed since.", GONE: "The change that it is about is gone."}


@dataclasses.dataclass(frozen=True)
class CommentPlace:
    """The place of comments on an object (without ``field``) or on a field: those that are there, the link that opens
    the form, blank for none, and whether the form is open.
    """

    anchor: str
    subject: str
    comments: Sequence[Mapping[str, Any]]
    link: str
    is_open: bool
    object_type: str
    object_id: uuid.UUID
    field: str = ""
    choices: Sequence[tuple[str, str]] = ()

    @property
    def is_used(self) -> bool:
        """True where the place has comments or the form."""
        return bool(self.comments) or self.is_open


class ReviewedChanges:
    """The proposals of a change request, those of them that the user may view, the events, and the places of comments.

    Panels of one page share it.
    """

    def __init__(self, request: Request, key: uuid.UUID) -> None:
        uow = request.uow
        self.proposed = proposals.load(uow, key)
        self.seen = lifecycle.visible_proposals(uow, self.proposed)
        self._events = review.events_of(uow, key)
        self._about = comments.abouts(uow, self._events, self.proposed, self.seen)
        self._opened = query_text(request, PARAMETER)
        self._linked = 0
        self._at: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for event in self.events:
            if event["about"] is not None:
                self._at.setdefault(event["about"].name, []).append(event)

    @classmethod
    def of(cls, request: Request, key: uuid.UUID) -> ReviewedChanges:
        """The changes of a page, which are read once."""
        found: ReviewedChanges | None = getattr(request, "netinv_reviewed_changes", None)
        if found is None:
            found = request.netinv_reviewed_changes = cls(request, key)
        return found

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events, each with the words for its kind, its time and what it is about."""
        return [self._show_event(event) for event in self._events]

    def _show_event(self, event: Mapping[str, Any]) -> dict[str, Any]:
        about: About | None = self._about.get(event["id"])
        words = {"label": EVENTS.labels[event["kind"]], "shown_time": time_markup(event["time"])}
        standing = "" if about is None else STANDING.get(about.state, "")
        return {**event, **words, "about": about, "standing": standing}

    def at_object(self, item: Proposal, sentences: Sequence[Sentence]) -> CommentPlace:
        """The place of an object: of comments on it as a whole, or on fields that are not shown."""
        shown = {sentence.field for sentence in sentences}
        found = [event for event in self._of(item) if event["about"].field not in shown]
        choices = [(sentence.field, sentence.label) for sentence in sentences]
        return self._place(item, item.object_repr, "", f"change-{item.id}", found, choices, linked=True)

    def at_fields(self, item: Proposal, sentences: Sequence[Sentence]) -> list[CommentPlace]:
        """The places of the shown fields of an object."""
        self._linked += len(sentences)
        linked, places = self._linked <= MAX_LINKED, []
        for number, sentence in enumerate(sentences):
            found = [event for event in self._of(item) if event["about"].field == sentence.field]
            subject, anchor = f"{sentence.label} of {item.object_repr}", f"change-{item.id}-{number}"
            places.append(self._place(item, subject, sentence.field, anchor, found, (), linked=linked))
        return places

    def _of(self, item: Proposal) -> Sequence[dict[str, Any]]:
        return self._at.get((item.endpoint.label, str(item.key)), ())

    def _place(
        self,
        item: Proposal,
        subject: str,
        field: str,
        anchor: str,
        found: Sequence[Mapping[str, Any]],
        choices: Sequence[tuple[str, str]],
        *,
        linked: bool,
    ) -> CommentPlace:
        name = f"{item.id}.{field}"
        link = f"?{urlencode({PARAMETER: name})}" if linked else ""
        return CommentPlace(
            anchor, subject, found, link, self._opened == name, item.endpoint.label, item.key, field, choices
        )

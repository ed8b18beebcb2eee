"""Custom links: templates of links that a user interface shows beside an object."""

from __future__ import annotations

from sqlalchemy.orm import Mapped

from netinv_core.models.base import Organizational
from netinv_core.models.columns import Choices, choice, column, integer, required_text
from netinv_core.read.filters import one_of
from netinv_core.resource import Resource
from netinv_extras.content_types import content_type_parameter, has_pages, type_label
from netinv_extras.templates import sandbox

BUTTONS = Choices.of(
    ("default", "Default"),
    ("primary", "Primary (blue)"),
    ("success", "Success (green)"),
    ("info", "Info (aqua)"),
    ("warning", "Warning (orange)"),
    ("danger", "Danger (red)"),
    ("link", "None (link)"),
)
TEMPLATED = ("text", "target_url")


class CustomLink(Organizational):
    """A link on all objects of a content type.

    ``text`` and ``target_url`` are Jinja2 templates with the variable ``obj``. Links with the same
    ``group_name`` form a menu, ordered by ``weight``.
    """

    __tablename__ = "extras_custom_link"

    target_url: Mapped[str] = required_text(
        500, "Jinja2 template code for link URL. Reference the object as `{{ obj }}`.", label="URL"
    )
    name: Mapped[str] = required_text(100, unique=True)
    content_type: Mapped[str] = column(length=100)
    text: Mapped[str] = required_text(500, "Jinja2 template code for link text. Reference the object as `{{ obj }}`.")
    weight: Mapped[int] = integer(0, 32767, default=100)
    group_name: Mapped[str] = column(
        length=50, default="", blank=True, help="Links with the same group will appear as a dropdown menu"
    )
    button_class: Mapped[str] = choice(BUTTONS, 30, default="default", plain=True, blank=False)
    new_window: Mapped[bool] = column(help="Force link to open in a new window")


custom_links = Resource(
    CustomLink,
    "custom-links",
    order=["group_name", "weight", "name"],
    search=["name", "text", "target_url"],
    brief=["content_type", "name"],
    fields=[type_label("content_type", has_pages, offered=False)],
    omit=["custom_fields", "computed_fields", "relationships"],
    filters=[
        content_type_parameter("content_type", unknown_is_empty=True),
        one_of("button_class", BUTTONS, multiple=False),
    ],
    example={
        "content_type": "extras.secret",
        "text": "{{ obj.name }}",
        "target_url": "https://wiki.example.com/{{ obj.name }}",
        "new_window": False,
    },
)


custom_links.rule(sandbox.rule(*TEMPLATED))

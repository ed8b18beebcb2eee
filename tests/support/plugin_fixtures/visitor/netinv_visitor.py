"""A package that a test installs: it implements every hook of the web interface on the pages of tenants.

The variable ``VISITOR_FAILS`` names a hook that returns something wrong, or a part that fails when it is shown.
"""

import os
import threading

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuEntry, MenuSection, Presentation
from netinv_extras.templates.members import Member

TARGET = "tenancy.tenant"
SLOW = ""  # a statement that takes long
woken = threading.Event()  # is set when slow parts go on
fails = os.environ.get("VISITOR_FAILS", "")
error: type[BaseException] = ZeroDivisionError


def result_of(hook, result):
    """The result of a hook; a wrong one when the hook is to fail."""
    return ["wrong"] if hook == fails else result


def shown(part, content):
    """A function of a part.

    :raises BaseException: of the class ``error``, when the part is to fail
    """

    def show(*arguments):
        if part and f"slow {part}" == fails:
            arguments[0].uow.execute(sa.text(SLOW)).all() if SLOW else woken.wait()
        if part and part == fails:
            raise error(f"{part} fails")
        if fails == "objects":  # what the function was given is emptied
            for given in arguments:
                given.clear() if isinstance(given, dict) else None
        return content

    return show


def borrowed(*arguments):
    """Values that the template of another package cannot be rendered with."""
    return {"windows": 7} if fails == "template" else None


@hookimpl
def netinv_web_menu(registry):
    return result_of("netinv_web_menu", [MenuSection("Visitor", [MenuEntry("Welcome", "/welcome/")])])


@hookimpl
def netinv_web_presentation(registry, endpoint):
    if endpoint.label != TARGET:
        return None
    return "wrong" if fails == "netinv_web_presentation" else Presentation(columns=["description", "group"])


@hookimpl
def netinv_web_cells(registry):
    """Descriptions of tenants in angle brackets."""
    from netinv_web.cells import FACTORIES

    def factory(plan, place, field):
        if field.name != "description" or place.endpoint.label != TARGET:
            return FACTORIES[fields.Value](plan, place, field)
        shown("cell factory", None)()
        read = plan.reader_of(place, field)
        return lambda row, page: shown("cell", f"<{read(row, page)}>")()

    return ["wrong"] if fails == "netinv_web_cells" else {fields.Value: factory}


@hookimpl
def netinv_web_controls(registry):
    return ["wrong"] if fails == "netinv_web_controls" else {}


@hookimpl
def netinv_web_panels(registry, endpoint):
    from netinv_web.extensions import Panel

    if endpoint.label != TARGET:
        return []
    panels = [
        Panel("greeting", "Greeting", shown("panel", "good <b>day</b>")),
        Panel("none", "Nothing", shown("", None)),
        Panel("borrowed", "Borrowed", borrowed, template="netinv_example:templates/windows.jinja2"),
    ]
    return result_of("netinv_web_panels", panels)


@hookimpl
def netinv_web_tabs(registry, endpoint):
    from netinv_web.extensions import Tab

    if endpoint.label != TARGET:
        return []
    tab = Tab(
        "guests", "Guests", shown("tab", "no guests"), count=shown("tab count", 7), applies=shown("tab applies", True)
    )
    return result_of("netinv_web_tabs", [tab])


@hookimpl
def netinv_web_actions(registry, endpoint):
    from netinv_web.extensions import Action

    if endpoint.label != TARGET:
        return []
    invite = Action("invite", "Invite", shown("action", "/welcome/"))
    never = Action("never", "Never", shown("", "/never/"), applies=lambda item: False)
    remove = Action("remove", "Remove", shown("", "/remove/"), permission="delete")
    welcome = Action("welcome", "Welcome all", shown("list action", "/welcome/"), scope="list")
    seat = Action("seat", "Seat", shown("selection action", "/seat/"), scope="selection", icon="user")
    return result_of("netinv_web_actions", [invite, never, remove, welcome, seat])


@hookimpl
def netinv_web_columns(registry, endpoint):
    return result_of("netinv_web_columns", [])


@hookimpl
def netinv_web_facets(registry, endpoint):
    from netinv_web.lists.facet_counts import ListFacet

    facet = ListFacet("q", "Initial", shown("facet", [("t", 3)]), shown("facet applies", True))
    return result_of("netinv_web_facets", [facet] if endpoint.label == TARGET else [])


@hookimpl
def netinv_web_spreads(registry, endpoint):
    return result_of("netinv_web_spreads", [])


@hookimpl
def netinv_web_form_parts(registry, endpoint):
    from netinv_web.extensions import FormPart

    parts = [FormPart("seats", "Seats", shown("form part", "free seats"))] if endpoint.label == TARGET else []
    return result_of("netinv_web_form_parts", parts)


@hookimpl
def netinv_web_file_imports(registry, endpoint):
    return result_of("netinv_web_file_imports", [])


@hookimpl
def netinv_web_widgets(registry):
    from netinv_web.extensions import Widget

    widgets = [
        Widget("weather", "Weather", shown("widget", "sunny")),
        Widget("tides", "Tides", shown("lazy widget", "high"), lazy=True, applies=shown("widget applies", True)),
    ]
    return result_of("netinv_web_widgets", widgets)


@hookimpl
def netinv_web_attention(request):
    from netinv_web.extensions import Attention

    return result_of("netinv_web_attention", [Attention(shown("attention", "The kettle boils")(), "/welcome/")])


@hookimpl
def netinv_web_first_steps(request):
    from netinv_web.extensions import FirstStep

    return result_of("netinv_web_first_steps", [FirstStep(shown("first step", "Knock")(), "/welcome/")])


@hookimpl
def netinv_web_background(registry):
    return None


@hookimpl
def netinv_web_exports(request, endpoint):
    """A file of tenants."""
    from netinv_web.extensions import Export

    return result_of("netinv_web_exports", [Export("Guest book", {"format": "tsv"})] * (endpoint.label == TARGET))


@hookimpl
def netinv_web_snippets(registry):
    from netinv_web.extensions import Snippet

    return result_of("netinv_web_snippets", [Snippet("shout", "Shout", shown("snippet", "HELLO"))])


@hookimpl
def netinv_web_banners(request):
    from netinv_web.extensions import Banner

    return result_of("netinv_web_banners", [Banner(shown("banner", "Mind the <step>")(), "warning")])


@hookimpl
def netinv_web_save_buttons(request, endpoint):
    from netinv_web.extensions import SaveButton

    title = shown("save button", "Save and wave")()
    return result_of("netinv_web_save_buttons", [SaveButton(title, "_wave", "1")] * (endpoint.label == TARGET))


@hookimpl
def netinv_web_undo(request):
    """Undoes nothing itself."""
    return None


@hookimpl
def netinv_identity_providers(registry):
    from netinv_core.auth.providers import IdentityProvider

    return [IdentityProvider(f"knocking {fails}".strip(), "Sign in by knocking", "/knock/")]


@hookimpl
def netinv_web_static(registry):
    return {"visitor": f"{__name__}:nowhere"} if fails == "netinv_web_static" else {}


@hookimpl
def netinv_web_includes(registry):
    return ["netinv_nowhere"] if fails == "netinv_web_includes" else [__name__]


def _broken(request):
    raise LookupError("the secret reason")


def includeme(config):
    """Adds a page, and one that fails."""
    config.add_netinv_page("/welcome/", lambda request: {"status": 200, "title": "Welcome", "detail": "Come in"}, ERROR)
    config.add_netinv_page("/broken/", _broken, ERROR, methods=["GET", "POST"])


ERROR = "netinv_web:templates/error.jinja2"


@hookimpl
def netinv_template_members(registry, endpoint):
    return {"motto": Member(of_row=lambda row: f"calm as {row.name}")} if endpoint.label == TARGET else {}

"""Hooks of the web interface that packages may implement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from netinv_core.hookspecs import hookspec

if TYPE_CHECKING:
    from pyramid.request import Request

    from netinv_core.endpoint import Endpoint
    from netinv_core.presentation import MenuSection, Presentation
    from netinv_core.registry import Registry
    from netinv_web.background import Background
    from netinv_web.cells import CellFactory, CellKey
    from netinv_web.extensions import (
        Action,
        Attention,
        Banner,
        Export,
        FirstStep,
        FormPart,
        ListTab,
        Panel,
        SaveButton,
        Snippet,
        Spread,
        Tab,
        Widget,
    )
    from netinv_web.file_imports import FileImport
    from netinv_web.forms.controls import ControlFactory, FactoryKey
    from netinv_web.lists.columns import ListColumn
    from netinv_web.lists.facet_counts import ListFacet


@hookspec
def netinv_web_menu(registry: Registry) -> Iterable[MenuSection]:
    """Sections of the navigation, besides those of applications; entries are
    :class:`netinv_core.presentation.MenuEntry`.
    """


@hookspec
def netinv_web_presentation(registry: Registry, endpoint: Endpoint) -> Presentation | None:
    """Presentation of a resource of another package: what it states replaces what the resource states."""


@hookspec
def netinv_web_cells(registry: Registry) -> Mapping[CellKey, CellFactory]:
    """Markup of the values of kinds of fields by their class, and of single fields by the label of the model and their
    name, in lists and details (:data:`netinv_web.cells.CellFactory`).
    """


@hookspec
def netinv_web_columns(registry: Registry, endpoint: Endpoint) -> Iterable[ListColumn]:
    """Columns of a resource's lists, besides those of its fields (:class:`netinv_web.lists.columns.ListColumn`)."""


@hookspec
def netinv_web_controls(registry: Registry) -> Mapping[FactoryKey, ControlFactory]:
    """Controls of forms (:data:`netinv_web.forms.controls.ControlFactory`): for kinds of fields by their class, for
    single fields by the label of the model and their name, such as ``("dcim.site", "asn")``.
    """


@hookspec
def netinv_web_panels(registry: Registry, endpoint: Endpoint) -> Iterable[Panel]:
    """Panels on the page of a resource's objects (:class:`netinv_web.extensions.Panel`)."""


@hookspec
def netinv_web_tabs(registry: Registry, endpoint: Endpoint) -> Iterable[Tab | ListTab]:
    """Tabs on the page of a resource's objects (:class:`netinv_web.extensions.Tab`,
    :class:`netinv_web.extensions.ListTab`)."""


@hookspec
def netinv_web_actions(registry: Registry, endpoint: Endpoint) -> Iterable[Action]:
    """Actions on a resource's objects, on a selection, on its list, or on a query of it
    (:class:`netinv_web.extensions.Action`)."""


@hookspec
def netinv_web_facets(registry: Registry, endpoint: Endpoint) -> Iterable[ListFacet]:
    """Facets beside a resource's list whose values are not those of a field
    (:class:`netinv_web.lists.facet_counts.ListFacet`)."""


@hookspec
def netinv_web_spreads(registry: Registry, endpoint: Endpoint) -> Iterable[Spread]:
    """Places of several objects that one form creates by a pattern (:class:`netinv_web.extensions.Spread`)."""


@hookspec
def netinv_web_form_parts(registry: Registry, endpoint: Endpoint) -> Iterable[FormPart]:
    """Parts below the forms of a resource's objects (:class:`netinv_web.extensions.FormPart`)."""


@hookspec
def netinv_web_file_imports(registry: Registry, endpoint: Endpoint) -> Iterable[FileImport]:
    """Files of a kind of their own on the import page of a resource (:class:`netinv_web.file_imports.FileImport`)."""


@hookspec
def netinv_web_widgets(registry: Registry) -> Iterable[Widget]:
    """Widgets of the home page (:class:`netinv_web.extensions.Widget`)."""


@hookspec
def netinv_web_attention(request: Request) -> Iterable[Attention]:
    """Entries under *Needs attention* on the home page (:class:`netinv_web.extensions.Attention`)."""


@hookspec
def netinv_web_first_steps(request: Request) -> Iterable[FirstStep]:
    """Ways to begin, on the home page of an empty inventory (:class:`netinv_web.extensions.FirstStep`)."""


@hookspec
def netinv_web_exports(request: Request, endpoint: Endpoint) -> Iterable[Export]:
    """Files in the export menu of a list (:class:`netinv_web.extensions.Export`)."""


@hookspec
def netinv_web_snippets(registry: Registry) -> Iterable[Snippet]:
    """Forms of *as code*: how programs read what a page shows (:class:`netinv_web.extensions.Snippet`)."""


@hookspec
def netinv_web_banners(request: Request) -> Iterable[Banner]:
    """Banners on top of every page (:class:`netinv_web.extensions.Banner`)."""


@hookspec
def netinv_web_save_buttons(request: Request, endpoint: Endpoint) -> Iterable[SaveButton]:
    """Buttons beside *Save* in forms that write objects of a resource (:class:`netinv_web.extensions.SaveButton`)."""


@hookspec
def netinv_web_undo(request: Request, request_id: str) -> str | None:
    """Path to which a button in a notice posts the id of a request, as ``request``, and the path to return to, as
    ``next``: its page undoes the changes of the request ``request_id``. ``None`` for users who may not.
    """


@hookspec
def netinv_web_includes(registry: Registry) -> Iterable[str]:
    """Names of modules with ``includeme(config)``, which add pages by ``config.add_netinv_page``, where settings decide
    which: others are named in :attr:`netinv_core.app.Feature.web`.
    """


@hookspec
def netinv_web_background(registry: Registry) -> Background | None:
    """Runs long work of pages in the background (:class:`netinv_web.background.Background`)."""


@hookspec
def netinv_web_static(registry: Registry) -> Mapping[str, str]:
    """Folders of static files by name (``{"example": "netinv_example:static"}``), and the files in them that every page
    loads: ``page.css`` and ``page.js``, if they exist.
    """

"""Wrong plugins: whatever is wrong in one is found when the service starts, which leaves it out and serves the rest."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from netinv_core.models.base import Base
from netinv_core.packages import FILE_PREFIX
from netinv_testing import Service

pytestmark = [pytest.mark.any_database, pytest.mark.night]
SECRET = "of more than thirty-two characters"
PAGES = ("/api/", "/api/status/", "/api/dcim/", "/api/dcim/sites/", "/api/search/?q=x", "/api/docs/?format=openapi")
HEAD = """
from sqlalchemy.orm import Mapped, mapped_column
from netinv_core import (
    App, FieldFactory, Filter, Name, Presentation, Primary, Ref, Resource, computed, filters, foreign_key, hookimpl, relations, root,
    through,
)

def on_sites(endpoint, *declared):
    return list(declared) if endpoint.label == "dcim.site" else []

HERE = __name__.removeprefix("netinv_plugin_")

class Wrong(Primary):
    __tablename__ = f"{HERE}_wrong"
    name: Mapped[Name] = mapped_column(unique=True)

def app(*resources, **options):
    return App(HERE, "Wrong", plugin=True, resources=list(resources), includes=[__name__], **options)

def includeme(config):
    pass

def view(request):
    return {}
"""
FIELDS = "@hookimpl\ndef netinv_fields(registry, endpoint):\n    return on_sites(endpoint, {})\n"
FILTERS = "@hookimpl\ndef netinv_filters(registry, endpoint):\n    return on_sites(endpoint, {})\n"
APP = "@hookimpl\ndef netinv_app():\n    return {}\n"
INCLUDE = APP.format("app()") + "\ndef includeme(config):\n    {}\n"
RULES = "@hookimpl\ndef netinv_rules(registry, endpoint):\n    return on_sites(endpoint, {})\n"
PRESENTED = APP.format("app(Resource(Wrong, 'wrongs', presentation=Presentation({})))")
AMONG_PAGES = (
    "import sys, types\n"
    + APP.format("app(web=[f'{{__name__}}_pages'])")
    + "\npages = sys.modules[f'{{__name__}}_pages'] = types.ModuleType(f'{{__name__}}_pages')\n"
    "@hookimpl\ndef {0}({1}):\n    return []\npages.{0} = {0}\ndel {0}\n"
)
ROUTE = "config.add_route(HERE, {!r}); config.add_view(view, route_name=HERE, permission='view')"


DELETED = """
import sqlalchemy as sa
from netinv_core import GenericCascade, Retention, older_than, table_of
from netinv_dcim.sites import Site

sites = table_of(Site)
table = sa.Table(f"{{HERE}}_gone", sa.MetaData(), sa.Column("id", sa.Uuid(), primary_key=True), sa.Column("kind", sa.Text()))
other = sa.Table("dcim_site", sa.MetaData(), sa.Column("id", sa.Uuid(), primary_key=True), sa.Column("gone", sa.Text()))
"""
RETENTION = DELETED + "@hookimpl\ndef netinv_retention(registry):\n    return [Retention({})]\n"
CASCADE = DELETED + "@hookimpl\ndef netinv_generic_cascades(registry):\n    return [GenericCascade({})]\n"
MENU = "from netinv_core import MenuEntry, MenuSection\n" + APP.format(
    "app(menu=[MenuSection('Menu', [MenuEntry({})])])"
)
DESCRIBED = (
    "from netinv_core import BodyOf, documented\n"
    + APP.format("app()")
    + "\n@documented({})\ndef weigh(request):\n    return {{}}\n"
    "def includeme(config):\n    config.add_netinv_action('dcim/sites', HERE + '-weigh', post=weigh, permission='view')\n"
)

CHANGED = "it changes {}, which all packages share"
LISTEN = "import sqlalchemy as sa\nsa.event.listen({}, {!r}, {})\n" + APP.format("app()")
CHECKED_LAST = "table without a migration"


@dataclasses.dataclass(frozen=True)
class Wrong:
    """A plugin of one file, and a part of the reason for which it is refused."""

    code: str
    reason: str


WRONG = {
    "ends the process": Wrong("import sys; sys.exit('done')", "SystemExit: done"),
    "ends the process in a hook": Wrong(APP.format("sys.exit(3)") + "import sys", "SystemExit: 3"),
    "raises what is no Exception": Wrong("class Stop(BaseException): pass\nraise Stop('here')", "Stop: here ("),
    "raises what is no Exception in a hook": Wrong(
        "class Stop(BaseException): pass\n@hookimpl\ndef netinv_fields(endpoint): raise Stop('late')\n", "Stop: late"
    ),
    "ends the process in a view module": Wrong(INCLUDE.format("raise SystemExit(3)"), "SystemExit: 3"),
    "misspelled hook": Wrong("@hookimpl\ndef netinv_feilds(registry): pass", "did you mean netinv_fields?"),
    "unknown hook": Wrong("@hookimpl\ndef netinv_whenever(registry): pass", "no package specifies the hook"),
    "unknown parameter of a hook": Wrong("@hookimpl\ndef netinv_fields(site): pass", "PluginValidationError"),
    "application of another": Wrong(
        APP.format("App('dcim', 'DCIM')"), "the application 'dcim', which the package dcim has"
    ),
    "plugin application of another": Wrong(APP.format("App('ipam', 'x', plugin=True)"), "the application 'ipam'"),
    "no application": Wrong(APP.format("'wrong'"), "netinv_app returns str instead of App"),
    "label of another": Wrong(APP.format("app(Resource(Wrong, 'wrongs', label='dcim.site'))"), "the label 'dcim.site'"),
    "model of another": Wrong(
        "from netinv_dcim.sites import Site\n" + APP.format("app(Resource(Site, 'places'))"), "the model of dcim.site"
    ),
    "field of another": Wrong(FIELDS.format("computed('name', str, 'slug')"), "the field 'name' of dcim.site"),
    "field attached by another": Wrong(FIELDS.format("computed('tags', str, 'slug')"), "the field 'tags' of dcim.site"),
    "counter of another": Wrong(FIELDS.format("computed('rack_count', str, 'slug')"), "the field 'rack_count'"),
    "filter of another": Wrong(FILTERS.format("filters.value('name', 'slug')"), "the filter 'name' of dcim.site"),
    "filter attached by another": Wrong(FILTERS.format("filters.related('vlans', by=())"), "the filter 'vlans'"),
    "relation of another": Wrong(
        "@hookimpl\ndef netinv_relations(registry, endpoint):\n"
        "    return {'racks': None} if endpoint.label == 'dcim.site' else {}",
        "the relation 'racks' of dcim.site",
    ),
    "unknown path of a field": Wrong(FIELDS.format("computed('x', str, 'nmae')"), "the field 'x' of dcim.site"),
    "unknown path across": Wrong(FIELDS.format("computed('y', str, 'tenant.nmae')"), "there is no 'nmae'"),
    "unknown path of a filter": Wrong(FILTERS.format("filters.value('x', 'nmae')"), "Cannot resolve keyword 'nmae'"),
    "default of a setting": Wrong(
        APP.format("app(settings={f'{HERE}_pace': (int, 'abc')})"), "the default of the setting {}_pace of {}"
    ),
    "text as the default of a number": Wrong(
        APP.format("app(settings={f'{HERE}_pace': (int, '14')})"), "is the text '14'; expected a value such as 14"
    ),
    "need of an application": Wrong(
        APP.format("app(needs=['dcim'])"), "needs= names features (application.feature), not applications"
    ),
    "parameters of a filter": Wrong(
        FILTERS.format("filters.custom('z', lambda table, values: True)"),
        "the function of the filter z takes (table, values); expected 3 parameters",
    ),
    "parameters of a filter with lookups": Wrong(
        FILTERS.format("filters.custom('z', lambda uow, table, values: True, suffixes=('n',))"),
        "the function of the filter z takes (uow, table, values); expected 4 parameters",
    ),
    "unknown relation of a filter": Wrong(FILTERS.format("filters.related('y', 'tenent')"), "the filter 'y' of dcim"),
    "no field": Wrong(FIELDS.format("'x'"), "AttributeError"),
    "field of no function": Wrong(
        FIELDS.format("computed('no_function', 'str', 'slug')"), "function of Computed is 'str'; expec"
    ),
    "field of another function": Wrong(
        FIELDS.format("computed('of_two', lambda slug: slug, 'slug', 'name')"), "takes (slug); expected 2 parameters"
    ),
    "loaded field of another function": Wrong(
        "from netinv_core import batch_loaded\n"
        + FIELDS.format("batch_loaded('loaded', view, openapi={'type': 'string'})"),
        "load of BatchLoaded takes (request); expected 2 parameters",
    ),
    "own unknown path": Wrong(
        APP.format("app(Resource(Wrong, 'wrongs', fields=[computed('x', str, 'nmae')]))"), "the field 'x' of {}.wrong"
    ),
    "own unknown display": Wrong(APP.format("app(Resource(Wrong, 'wrongs', display='nmae'))"), "there is no 'nmae'"),
    "own unknown order": Wrong(APP.format("app(Resource(Wrong, 'wrongs', order=['nmae']))"), "the order of {}.wrong"),
    "own unknown ordering": Wrong(
        APP.format("app(Resource(Wrong, 'wrongs', orderings={'x': ['nmae']}))"), "the order of {}.wrong"
    ),
    "own unknown search": Wrong(APP.format("app(Resource(Wrong, 'wrongs', search=['nmae']))"), "the filter 'q' of {}"),
    "own unknown brief": Wrong(APP.format("app(Resource(Wrong, 'wrongs', brief=['nmae']))"), "names 'nmae'"),
    "own unknown name in an example": Wrong(
        APP.format("app(Resource(Wrong, 'wrongs', example={'nmae': 'x'}))"),
        "example of {}.wrong names 'nmae', which is no field that can be written; did you mean name?",
    ),
    "own unknown column of names": Wrong(
        APP.format("app(Resource(Wrong, 'wrongs', name_attribute='nmae'))"), "name_attribute of {}.wrong names 'nmae'"
    ),
    "own unknown write": Wrong(
        APP.format("app(Resource(Wrong, 'wrongs', writes=['ad', 'delete']))"), "writes of {}.wrong names 'ad'"
    ),
    "own unknown pair": Wrong(
        APP.format("app(Resource(Wrong, 'wrongs', about=[('type', 'name')]))"), "about of {}.wrong names 'type'"
    ),
    "own unknown natural key": Wrong(APP.format("app(Resource(Wrong, 'wrongs', natural='nmae'))"), "nmae"),
    "own unknown column of a rule": Wrong(
        "wrongs = Resource(Wrong, 'wrongs')\n@wrongs.rule(changing=['nmae'])\ndef rule(uow, drafts): pass\n"
        + APP.format("app(wrongs)"),
        "a rule of {}.wrong names 'nmae'",
    ),
    "reference to no model": Wrong(
        "class Part(Primary):\n    __tablename__ = f'{HERE}_part'\n"
        "    name: Mapped[Name]\n    site_id: Mapped[Ref | None] = foreign_key('dcim.sitte', on_delete='protect')\n"
        + APP.format("app(Resource(Part, 'parts'))"),
        "refers to dcim.sitte, which is not a model",
    ),
    "reverse relation of another": Wrong(
        "from netinv_dcim.sites import Site\nclass Part(Primary):\n    __tablename__ = f'{HERE}_part'\n"
        "    name: Mapped[Name]\n"
        "    site_id: Mapped[Ref | None] = foreign_key(Site, on_delete='protect', related_name='racks')\n"
        + APP.format("app(Resource(Part, 'parts'))"),
        "the relation 'racks' of dcim.site",
    ),
    CHECKED_LAST: Wrong(APP.format("app(Resource(Wrong, 'wrongs'))"), "no table {}_wrong"),
    "resource listed twice": Wrong(
        "wrongs = Resource(Wrong, 'wrongs')\n" + APP.format("app(wrongs, wrongs)"), "two resources claim the path"
    ),
    "order across a reference that is none": Wrong(
        APP.format("app(Resource(Wrong, 'wrongs', order=['tenant.name']))"), "the order of {}.wrong cannot be used"
    ),
    "column of a table of another": Wrong(
        "from netinv_dcim.sites import Site\nSite.extra = mapped_column('extra')\n",
        "dcim_site is declared already; a package cannot add the column 'extra' to it (",
    ),
    "table of another": Wrong(
        "class Place(Primary):\n    __tablename__ = 'dcim_site'\n    __table_args__ = {'extend_existing': True}\n"
        "    name: Mapped[Name]\n",
        "dcim_site is declared already",
    ),
    "distribution that is not installed": Wrong(APP.format("app(distribution='nowhere')"), "'nowhere' of {} is not"),
    "author that is no text": Wrong(APP.format("app(author=5)"), "the author of the application is 5; expected a text"),
    "tween that cannot be made": Wrong(INCLUDE.format("config.add_tween(__name__ + '.view')"), "TypeError: "),
    "tween that is none": Wrong(
        INCLUDE.format("config.add_tween(__name__ + '.tween')") + "\ndef tween(handler, registry):\n    return {}\n",
        "tween returns dict instead of a tween",
    ),
    "deriver that gives no view": Wrong(
        INCLUDE.format("config.add_view_deriver(deriver, name=HERE)") + "\ndef deriver(view, info):\n    return {}\n",
        "deriver returns dict instead of a view",
    ),
    "deriver that gives nothing": Wrong(
        INCLUDE.format("config.add_view_deriver(deriver, name=HERE)") + "\ndef deriver(view, info):\n    pass\n",
        "deriver returns NoneType instead of a view",
    ),
    "deriver that cannot be made": Wrong(INCLUDE.format("config.add_view_deriver(includeme)"), "includeme() takes 1"),
    "subscriber of the start": Wrong(
        INCLUDE.format("config.add_subscriber(lambda event: 1 / 0, 'pyramid.events.ApplicationCreated')"), "division"
    ),
    "static files in place of the pages": Wrong(INCLUDE.format("config.add_static_view('/', '/tmp')"), "the path /"),
    **{
        f"{what} of the service": Wrong(
            INCLUDE.format(f"config.{code}"), f"it replaces the {what} of the whole service"
        )
        for what, code in (
            ("root factory", "set_root_factory(view)"),
            ("factory of requests", "set_request_factory(view)"),
            ("factory of responses", "set_response_factory(view)"),
            ("default permission", "set_default_permission('x')"),
            ("defaults of CSRF checks", "set_default_csrf_options(True)"),
            ("traverser of everything", "add_traverser(view)"),
            ("answer of views that return dict", "add_response_adapter(view, dict)"),
            ("URLs of Site", "add_resource_url_adapter(view, 'netinv_dcim.sites:Site')"),
        )
    },
    "view that is none": Wrong(APP.format("app(extra_views={'x': view})"), "is a function instead of a RootView"),
    "root view of another": Wrong(APP.format("app(root_views={'status': root('x')(view)})"), "the path /api/status/"),
    "root view of an application": Wrong(
        APP.format("app(root_views={'dcim': root('x')(view)})"), "the path /api/dcim/"
    ),
    "route of a list": Wrong(INCLUDE.format(ROUTE.format("/api/dcim/sites/")), "the path /api/dcim/sites/"),
    "route of an object": Wrong(INCLUDE.format(ROUTE.format("/api/dcim/sites/{key}/")), "the path /api/dcim/sites/"),
    "route of everything": Wrong(INCLUDE.format(ROUTE.format("/api/{app}/{model}/")), "it claims the path /api/"),
    "route of the rest": Wrong(INCLUDE.format(ROUTE.format("/api/dcim/*rest")), "it claims the path /api/dcim/"),
    "route of a page": Wrong(INCLUDE.format(ROUTE.format("/dcim/sites/")), "the path /dcim/sites/"),
    "route never reached": Wrong(INCLUDE.format(ROUTE.format("/api/status/")), "the path /api/status/"),
    "view without a permission": Wrong(
        INCLUDE.format("config.add_route(HERE, '/wrong/'); config.add_view(view, route_name=HERE)"), "no permission"
    ),
    "action of another": Wrong(
        INCLUDE.format("config.add_netinv_action('ipam/prefixes', 'available-ips', get=view, permission='view')"),
        "ConfigurationConflictError",
    ),
    "action of no resource": Wrong(
        INCLUDE.format("config.add_netinv_action('dcim/sitez', 'x', get=view, permission='view')"), "no resource sitez"
    ),
    "action of no application": Wrong(
        INCLUDE.format("config.add_netinv_action('dcmi/sites', 'x', get=view, permission='view')"),
        "no application dcmi",
    ),
    "module that is not there": Wrong(APP.format("App(HERE, 'Wrong', plugin=True, includes=['nowhere'])"), "nowhere"),
    "page module that is not there": Wrong(APP.format("app(web=['nowhere'])"), "No module named 'nowhere'"),
    "page modules in a text": Wrong(
        APP.format("app(web='nowhere')"), "web of {} is 'nowhere'; expected a list of names"
    ),
    "rule among pages": Wrong(
        AMONG_PAGES.format("netinv_rules", "registry, endpoint"),
        "the module of pages netinv_plugin_{}_pages has the hook netinv_rules, which workers ask for, too",
    ),
    "presentation among pages": Wrong(
        AMONG_PAGES.format("netinv_web_presentation", "endpoint"), "has the hook netinv_web_pres"
    ),
    "misspelled hook among pages": Wrong(
        AMONG_PAGES.format("netinv_web_pannels", "endpoint"), "hook netinv_web_pannels; did you mean netinv_web_panels"
    ),
    "other parameters among pages": Wrong(AMONG_PAGES.format("netinv_web_panels", "sites"), "netinv_web_panels"),
    "setting of another": Wrong(APP.format("app(settings={'paginate_count': (int, 1)})"), "paginate_count"),
    "page of another": Wrong(
        "@hookimpl\ndef netinv_web_includes(registry):\n    return [__name__]\n"
        "def includeme(config):\n    config.add_netinv_page('/dcim/sites/', view, permission='view')\n",
        "the path /dcim/sites/",
    ),
    **{
        f"unknown name in {member}": Wrong(
            PRESENTED.format(f"{member}={value}"), f"of the presentation of {{}}.wrong names {name!r}, which is"
        )
        for member, value, name in (
            ("columns", "['nmae']", "nmae"),
            ("fieldsets", "[('Group', ['nmae'])]", "nmae"),
            ("facets", "['nmae']", "nmae"),
            ("queues", "[('Queue', {'nmae': 'x'})]", "nmae"),
            ("depends_on", "{'nmae': {'name': 'name'}}", "nmae"),
            ("limits", "{'nmae': {'name': 'x'}}", "nmae"),
            ("summary", "['nmae']", "nmae"),
            ("quick_fields", "['id']", "id"),
            ("nested_below", "['nmae']", "nmae"),
            ("leading", "['trace']", "trace"),
            ("tabs", "['devices']", "devices"),
            ("hidden", "['nmae']", "nmae"),
            ("flags", "['nmae']", "nmae"),
            ("unrelated", "['nmae']", "nmae"),
        )
    },
    "application with a bad name": Wrong(APP.format("App('Bad Name/..', 'x', plugin=True)"), "called 'Bad Name/..'"),
    "setting with a bad name": Wrong(
        APP.format("app(settings={'Bad Name': (int, 1)})"), "a setting is called 'Bad Name'"
    ),
    "field with a bad name": Wrong(FIELDS.format("computed('bad name!', str, 'slug')"), "the field is called 'bad"),
    "resource of a menu that is none": Wrong(
        "from netinv_core import MenuSection\n" + APP.format("app(menu=[MenuSection('Menu', ['wrongs'])])"),
        "the section 'Menu' of the menu names 'wrongs', which is no resource of the application",
    ),
    "task of another": Wrong(
        "from netinv_core import Task\n@hookimpl\ndef netinv_tasks(registry):\n    return [Task('upkeep', on_sites)]\n",
        "it claims the task 'upkeep', which the core has",
    ),
    "menu that is too long": Wrong(
        "from netinv_core import MenuSection\n" + APP.format("app(menu=[MenuSection('Wrong', ['wrongs'] * 200)])"),
        "has 201 sections and entries; a package may have 200",
    ),
    "unknown needed feature": Wrong(
        APP.format("app(needs=['extras.statusses'])"),
        "{} needs the feature extras.statusses, which no package has; did you mean extras.statuses?",
    ),
    "needed features in a text": Wrong(
        APP.format("app(needs='extras.tags')"), "needs of {} is 'extras.tags'; expected a list of names"
    ),
    "migrations at no place": Wrong(APP.format("app(migrations='migrations')"), "expected 'package:folder'"),
    "migrations of no package": Wrong(
        APP.format("app(migrations='nowhere.at_all:migrations')"), "the package nowhere.at_all of the migrations"
    ),
    "migrations of a module": Wrong(
        APP.format("app(migrations='netinv_core.app:migrations')"), "expected a package with a folder"
    ),
    "migrations without a folder": Wrong(
        APP.format("app(migrations='netinv_testing:migrations')"), "migrations/versions, which does not exist; write"
    ),
    "menu that is none": Wrong(APP.format("app(menu=['x'])"), "has str instead of MenuSection"),
    "rule that is none": Wrong(RULES.format("'x'"), "dcim.site: a rule is 'x'; expected a function (uow, drafts)"),
    "rule with other parameters": Wrong(RULES.format("includeme"), "the rule includeme takes (config); expected"),
    "cycle of names": Wrong(
        "class Part(Primary):\n    __tablename__ = f'{HERE}_part'\n    name: Mapped[Name]\n"
        "    of_id: Mapped[Ref | None] = foreign_key('self', on_delete='cascade')\n"
        + APP.format("app(Resource(Part, 'parts', display='of.display'))"),
        "{}.part",
    ),
    **{
        f"result of {hook} that is none": Wrong(
            f"@hookimpl\ndef {hook}({parameters}):\n    return {result}\n", f"{hook} returns {told}"
        )
        for hook, parameters, result, told in (
            ("netinv_tasks", "registry", "['x']", "str instead of Task"),
            ("netinv_retention", "registry", "[1]", "int instead of Retention"),
            ("netinv_generic_cascades", "registry", "[1]", "int instead of GenericCascade"),
            ("netinv_change_guards", "registry", "[1]", "int instead of ChangeGuard"),
            ("netinv_jobs", "registry", "[int]", "the class int instead of type[Job]"),
            ("netinv_known_statuses", "registry", "5", "int instead of a list of str"),
            ("netinv_context_scopes", "registry", "[1]", "int instead of ContextScope"),
            ("netinv_git_content_kinds", "registry", "{'x': 1}", "int instead of ContentKind"),
            ("netinv_secret_providers", "registry", "[1]", "list instead of a mapping of SecretsProvider"),
            ("netinv_template_filters", "registry", "{'x': 1}", "int instead of Callable[..., Any]"),
            ("netinv_template_members", "registry, endpoint", "{'x': 1}", "int instead of Member"),
            ("netinv_joined_columns", "registry, endpoint", "[1]", "int instead of JoinedColumns"),
            ("netinv_graphql_fields", "registry, endpoint", "[1]", "int instead of FieldFactory"),
        )
    },
    "unknown path in found_with": Wrong(
        PRESENTED.format("found_with='nmae'"), "found_with of the presentation of {}.wrong cannot be used: there is no"
    ),
    "unknown name in the presentation of another": Wrong(
        "@hookimpl\ndef netinv_web_presentation(registry, endpoint):\n"
        "    return Presentation(columns=['nmae']) if endpoint.label == 'dcim.site' else None\n",
        "columns of the presentation of dcim.site names 'nmae', which is neither a field nor a column of a package; "
        "did you mean name?",
    ),
    "unknown filter of a choice": Wrong(
        "@hookimpl\ndef netinv_web_presentation(registry, endpoint):\n"
        "    return Presentation(limits={'tenant': {'gruop': '1'}}) if endpoint.label == 'dcim.site' else None\n",
        "limits['tenant'] of the presentation of dcim.site names 'gruop', which is no filter of tenancy.tenant",
    ),
    **{
        f"retention {what}": Wrong(RETENTION.format(code), told)
        for what, code, told in (
            (
                "of no table",
                "table, lambda settings, at: None",
                "the database has no table {}_gone, which the retention",
            ),
            (
                "of other columns",
                "other, lambda settings, at: None",
                "no column gone in the table dcim_site, which the",
            ),
            ("without a table", "'x', lambda settings, at: None", "the table of a retention is 'x'; expected"),
            (
                "without a key",
                "sa.Table(HERE, sa.MetaData(), sa.Column('x')), lambda settings, at: None",
                "a primary key of one column",
            ),
            ("by a setting that is none", "sites, older_than('changelog_retentoin', sites.c.created)", "did you mean"),
            ("by another table", "sites, lambda settings, at: table.c.id == sites.c.id", "has no table {}_gone, which"),
            ("by no condition", "sites, lambda settings, at: True", "returns bool instead of a condition or None"),
            ("by no function", "sites, 'days'", "old of Retention is 'days'; expected a function"),
            ("by other parameters", "sites, view", "old of Retention takes (request); expected 2 parameters"),
        )
    },
    **{
        f"cascade {what}": Wrong(CASCADE.format(code), told)
        for what, code, told in (
            ("to no table", "table, 'kind', 'id'", "the database has no table {}_gone, which the cascade to {}_gone"),
            ("by no column", "sites, 'name', 'idd'", "the cascade to dcim_site names 'idd', which is no column; did"),
            ("to no model", "sites, 'name', 'id', label='dcim.sitte'", "names 'dcim.sitte', which is no model; did"),
            ("to another model", "sites, 'name', 'id', label='dcim.rack'", "the cascade to dcim.rack has the table"),
            ("by no function", "sites, 'name', 'id', applies=True", "applies of GenericCascade is True; expected a"),
        )
    },
    **{
        f"menu {what}": Wrong(MENU.format(code), told)
        for what, code, told in (
            (
                "of no model",
                "'Sites', '/dcim/sites/', 'dcim.sitte'",
                "'Sites' of the menu names 'dcim.sitte', which is",
            ),
            ("to no page", "'Maps', '/plugins/maps/'", "the entry 'Maps' of the menu leads to '/plugins/maps/', which"),
            ("to no resource", "'Sitte', '/dcim/sittes/'", "the menu leads to '/dcim/sittes/', which no route has"),
        )
    },
    **{
        f"description {what}": Wrong(DESCRIBED.format(code), told)
        for what, code, told in (
            ("of no model", "'dcim.sitte'", "weigh/ names 'dcim.sitte', which is no model; did you mean dcim.site?"),
            ("of no body", "request_body=BodyOf('Weigh', 'x.y', ())", "weigh/ names 'x.y', which is no model"),
            ("without a form in JSON", "{'type': object}", "weigh/ cannot be written as JSON: Type is not JSON"),
        )
    },
    "description of a field": Wrong(
        FIELDS.format("computed('described', str, 'slug', openapi={'type': object})"), "openapi of the field 'descr"
    ),
    "panel without a function": Wrong(
        "from netinv_web.extensions import Panel\n@hookimpl\ndef netinv_web_panels(registry, endpoint):\n"
        "    return [Panel('x', 'X', 'content')]\n",
        "content of Panel is 'content'; expected a function",
    ),
    **{
        f"{what} at the {when}": Wrong(
            (f"import {module}\n{code}\n" + APP.format("app()"))
            if when == "import"
            else INCLUDE.format(f"import {module}; {code}"),
            CHANGED.format(part),
        )
        for what, module, code, part in (
            ("other working directory", "os", "os.chdir('/')", "the working directory"),
            ("other mask of files", "os", "os.umask(0)", "the mask of new files (umask)"),
            ("removed variables", "os", "os.environ.clear()", "the environment variables or the time zone"),
            (
                "other time zone",
                "os, time",
                "os.environ['TZ'] = 'Pacific/Auckland'; time.tzset()",
                "the environment variables or the time zone",
            ),
            ("other locale", "locale", "locale.setlocale(locale.LC_CTYPE, 'C')", "the locale"),
            ("signals ignored", "signal", "signal.signal(signal.SIGTERM, signal.SIG_IGN)", "the handlers of signals"),
            ("nothing logged", "logging", "logging.disable(logging.CRITICAL)", "the log"),
            ("loggers disabled", "logging.config", "logging.config.dictConfig({'version': 1})", "the log"),
            ("no search path", "sys", "sys.path.clear()", "the search path of modules (sys.path)"),
            ("low recursion", "sys", "sys.setrecursionlimit(500)", "the limit of recursion"),
            ("other timeout", "socket", "socket.setdefaulttimeout(0.001)", "the default timeout of sockets"),
            ("warnings as errors", "warnings", "warnings.simplefilter('error')", "the filters of warnings"),
            (
                "thread that lasts",
                "threading, time",
                "threading.Thread(target=lambda: time.sleep(1)).start()",
                "the threads for which the process waits at its end",
            ),
        )
        for when in ("import", "start")
    },
    **{
        f"listener {what}": Wrong(LISTEN.format(target, event, function), reason)
        for what, target, event, function, reason in (
            (
                "to statements",
                "sa.Engine",
                "before_cursor_execute",
                "lambda *given: 1 / 0",
                "ZeroDivisionError: division",
            ),
            (
                "with other parameters",
                "sa.Engine",
                "before_cursor_execute",
                "lambda: None",
                "takes 0 positional arguments",
            ),
            ("to connections", "sa.Pool", "checkout", "lambda *given: exit(3)", "SystemExit: 3"),
            ("to transactions", "sa.orm.Session", "after_begin", "lambda *given: [][0]", "IndexError: list index"),
        )
    },
    **{
        f"{what} that is no text": Wrong(
            "from netinv_core import MenuEntry, MenuSection\n" + APP.format(f"app(menu=[{code}])"),
            f"the menu of the application has a {told}; expected str",
        )
        for what, code, told in (
            ("section", "MenuSection(7, ['wrongs'])", "MenuSection whose title is 7"),
            ("entry", "MenuSection('Menu', [MenuEntry(None, '/')])", "MenuEntry whose title is None"),
            ("path of an entry", "MenuSection('Menu', [MenuEntry('Home', b'/')])", "MenuEntry whose path is b'/'"),
        )
    },
    "menu with a function": Wrong(
        "from netinv_core import MenuSection\n" + APP.format("app(menu=[MenuSection('Menu', [view])])"),
        "the section 'Menu' of the menu has <function view at",
    ),
    "columns in a text": Wrong(
        PRESENTED.format("columns='name'"), "has a Presentation whose columns is 'name'; expected Sequence[str]"
    ),
    "search that is none": Wrong("@hookimpl\ndef netinv_search(registry):\n    return [1]\n", "SearchProvider"),
}


def stem(kind: str) -> str:
    """The name of the file of a wrong plugin."""
    return kind.replace(" ", "_").lower()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with every wrong plugin, and one in order; their modules and tables are forgotten afterwards."""
    path = tmp_path_factory.mktemp("plugins")
    for kind, wrong in WRONG.items():
        (path / f"{stem(kind)}.py").write_text(HEAD + wrong.code)
    (path / "right.py").write_text(HEAD + FIELDS.format("computed('right', str.upper, 'name')"))
    tables = set(Base.metadata.tables)
    yield path
    for name in [name for name in sys.modules if name.startswith(FILE_PREFIX)]:
        del sys.modules[name]
    for name in set(Base.metadata.tables) - tables:
        Base.metadata.remove(Base.metadata.tables[name])


@pytest.fixture(scope="module")
def wrong_service(engine: Engine, folder: Path) -> Service:
    """A service with every wrong plugin."""
    return Service(engine, {"netinv.plugins_dir": str(folder)})


@pytest.fixture(scope="module")
def broken(wrong_service: Service) -> dict[str, str]:
    """The reasons of ``/api/status/`` by package."""
    reasons: dict[str, str] = wrong_service.api.get("/api/status/")["broken-packages"]
    return reasons


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_plugin_is_named_with_its_reason(broken: dict[str, str], kind: str) -> None:
    assert WRONG[kind].reason.format(*[stem(kind)] * 2) in broken.get(stem(kind), "it is served")


def test_nothing_else_is_left_out(wrong_service: Service, broken: dict[str, str]) -> None:
    assert set(broken) == set(map(stem, WRONG))
    listed = wrong_service.api.get("/api/plugins/installed-plugins/")
    assert {item["name"]: item["reason"] for item in listed if item["status"] == "broken"} == broken


@pytest.mark.night
def test_the_rest_is_served(wrong_service: Service) -> None:
    """Lists, objects, searches, pages and writes of the applications, and the plugin that is in order."""
    api, name = wrong_service.api, wrong_service.unique()
    for path in PAGES:
        api.get(path)
    site = api.post("/api/dcim/sites/", {"name": name, "status": "active"})
    assert site["right"] == name.upper()
    assert api.get(site["url"])["name"] == name
    assert api.get("/api/dcim/sites/", {"q": name})["count"] == 1
    api.delete(site["url"])


@pytest.mark.night
def test_the_self_check_names_them(wrong_service: Service, folder: Path, tmp_path: Path) -> None:
    """One of each step of the start: while packages load, declare, and add views, and when the tables are compared."""
    ini, url = tmp_path / "netinv.ini", wrong_service.engine.url.render_as_string(hide_password=False)
    kinds = (
        *("ends the process", "setting of another", "unknown path of a field", "route of a list", CHECKED_LAST),
        *("migrations of no package", "migrations without a folder"),
    )
    (tmp_path / "some").mkdir()
    for name in map(stem, kinds):
        shutil.copy(folder / f"{name}.py", tmp_path / "some")
    ini.write_text(
        f"[app:main]\nuse = egg:netinv-core\nnetinv.secret = {SECRET}\nnetinv.database_url = {url}\n"
        f"netinv.plugins_dir = {tmp_path / 'some'}\n"
    )
    command = [Path(sys.executable).with_name("netinv"), "-c", ini, "check", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    messages = [item["message"] for item in json.loads(result.stdout)["checks"] if item["check"] == "packages"]
    assert (result.returncode, len(messages)) == (1, len(kinds))
    for kind, name in zip(kinds, map(stem, kinds), strict=True):
        (message,) = [message for message in messages if message.startswith(f"{name} ({name}.py) is not served: ")]
        assert WRONG[kind].reason.format(*[name] * 2) in message

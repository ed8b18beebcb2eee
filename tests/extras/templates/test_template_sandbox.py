"""The sandbox of templates: nothing but plain data can be reached from what templates see, wherever they are
written.
"""

from __future__ import annotations

import datetime
import decimal
import itertools
from collections.abc import Callable, Iterator
from types import BuiltinMethodType, GeneratorType, MethodType
from typing import Any

import pytest
from jinja2 import Undefined
from jinja2.filters import _GroupTuple
from jinja2.runtime import BlockReference, LoopContext, Macro, TemplateReference
from jinja2.utils import Cycler, Joiner, Namespace, markupsafe

from netinv_extras.templates import sandbox
from netinv_extras.templates.feature import feature
from netinv_extras.templates.renderer import values
from netinv_extras.templates.renderer.absent import Null
from netinv_extras.templates.renderer.data import Function, Members, Percentage, SharedDict, SharedList
from netinv_extras.templates.renderer.networks import AddressText, IPNetwork
from netinv_extras.templates.renderer.objects import Batches, Object
from netinv_extras.templates.renderer.querysets import Queryset, ValueRows
from netinv_extras.templates.renderer.sandbox import Sandbox, Templates
from netinv_extras.webhooks.worker import deliver_now
from netinv_testing import Api, Service
from tests.support.receivers import Receiver

pytestmark = pytest.mark.any_database
# -- a walk over all that can be reached

SCALARS = (
    AddressText,
    IPNetwork,
    Percentage,
    Null,
    str,
    markupsafe.Markup,
    bytes,
    int,
    float,
    bool,
    type(None),
    decimal.Decimal,
)
TIMES = (
    datetime.date,
    datetime.datetime,
    datetime.time,
    datetime.timedelta,
    type(datetime.date(2020, 1, 1).isocalendar()),
)
CONTAINERS = (list, tuple, dict, range, type({}.keys()), type({}.values()), type({}.items()), Members, Object, Queryset)
CONTAINERS += (SharedDict, SharedList, ValueRows)
ITERATORS = (
    GeneratorType,
    map,
    itertools.islice,
    zip,
    enumerate,
    reversed,
    *(type(reversed(each)) for each in ([], {}, {}.values(), {}.items(), range(1))),
)
JINJA = (Function, Macro, LoopContext, BlockReference, TemplateReference, Cycler, Joiner, Namespace, _GroupTuple)
PLAIN = frozenset((*SCALARS, *TIMES, *CONTAINERS, *ITERATORS, *JINJA))
EXAMPLES: dict[str, Any] = {
    "text": "x",
    "number": 3,
    "decimal": decimal.Decimal("1.5"),
    "time": datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC),
    "day": datetime.date(2020, 1, 2),
    "label": values.FunctionResult("Active"),
    "address": values.Address("10.0.0.1"),
    "network": values.Network("10.0.0.1/24"),
    "network6": values.Network("2001:db8::1/120"),
    "share": values.ShareValue(1, 2),
    "null": values.NullObject(0),
    "rows": values.ListedValues([values.ObjectRef(1, 0), 1]),
    "shown": values.ShownMember({"display": "d", "inner": [{"label": "l", "when": datetime.date(2020, 1, 2)}]}),
    "json": {"a": [1, {"b": None}]},
    "other": values.ObjectRef(1, 0),
    "others": values.ObjectRefs(1, [0, 1]),
    "hidden": values.HIDDEN,
}
INSIDES = (
    "func args keywords mro format format_map maketrans load resolve environment globals context eval_ctx filters tests blocks vars parent exported_vars "
    "gi_frame gi_code gi_yieldfrom cr_frame ag_frame f_globals f_builtins f_back f_code tb_frame tb_next func_globals func_code im_func im_self "
    "real imag numerator denominator mapping tzinfo min max resolution now today fromtimestamp utcnow _function _batches _batch _place _load _columns "
    "__class__ __self__ __func__ __globals__ __closure__ __code__ __dict__ __mro__ __base__ __bases__ __subclasses__ __init__ __call__ __module__ "
    "__getattribute__ __reduce__ __reduce_ex__ __wrapped__ __builtins__ __import__ __loader__ __spec__ __doc__ __defaults__ __kwdefaults__ __objclass__"
)
COLLECTED = """
{%- macro with_caller(a, b=1) %}{{ collect(caller) }}{{ caller() }}{% endmacro %}
{%- for x in [1, 2] recursive %}{{ collect(loop) }}{% endfor %}
{%- call with_caller(1) %}c{% endcall %}{% block named %}{{ collect(super) }}{{ collect(self.named) }}{% endblock %}
{%- for key, group in [{'a': 1}]|groupby('a') %}{{ collect(group) }}{% endfor %}{% for g in [{'a': 1}]|groupby('a') %}{{ collect(g) }}{% endfor %}
{{- collect([with_caller, self, cycler(1, 2), joiner(), namespace(a=1), obj, queryset, range(3), dict(a=1), nothing, '{}'.format, 'x'|escape]) }}
"""


def load(batch: int, name: str) -> dict[str, Any]:
    """Objects of every kind of attribute."""
    known = {**EXAMPLES, "display": "d", "id": "i"}
    if name in known:
        return {"values": [values.encode(known[name])] * 2, "null": None}
    return {"model": "thing", "nearest": ""}


def attributes(environment: Sandbox, thing: Any) -> Iterator[tuple[str, Any]]:
    """The values that an expression gets from an object by attribute and by item."""
    for name in {*dir(thing), *INSIDES.split(), *EXAMPLES}:
        yield f".{name}", environment.getattr(thing, name)
        yield f"[{name!r}]", environment.getitem(thing, name)
        yield f"|attr({name!r})", environment.call_filter("attr", thing, [name])
    for place in (0, -1, slice(None)):
        yield f"[{place}]", environment.getitem(thing, place)


def walk(
    environment: Sandbox, context: Any, roots: list[tuple[str, Any]], visit: Callable[[str, Any], None], depth: int
) -> None:
    """Visits all that can be reached by attributes, items, calls without arguments and filters without arguments, each
    kind of thing once a level.
    """
    seen: set[Any] = set()
    for level in range(depth):
        following: list[tuple[str, Any]] = []
        for path, thing in roots:
            visit(path, thing)
            if isinstance(thing, Undefined):
                continue
            key = (
                type(thing),
                getattr(thing, "__name__", ""),
                isinstance(thing, BuiltinMethodType) and type(thing.__self__),
            )
            if key in seen and level:
                continue
            seen.add(key)
            following += [(path + step, value) for step, value in attributes(environment, thing)]
            for step, call in steps(environment, context, thing):
                try:
                    following.append((path + step, call()))
                except Exception as error:  # a template would fail with it
                    visit(f"{path}{step} error", str(error))
        roots = following


def steps(environment: Sandbox, context: Any, thing: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Calls and filters."""
    yield "()", lambda: environment.call(context, thing)
    for name in environment.filters:
        yield f"|{name}", lambda name=name: environment.call_filter(name, thing, context=context)
    for name in environment.tests:
        yield f" is {name}", lambda name=name: environment.call_test(name, thing, context=context)


def is_plain(environment: Sandbox, thing: Any) -> bool:
    """True for data, and for the callables that the sandbox knows."""
    if isinstance(thing, BuiltinMethodType | MethodType):
        return environment.is_safe_callable(thing)
    return type(thing) in PLAIN or isinstance(thing, Undefined)


@pytest.mark.night
def test_nothing_but_plain_data_can_be_reached() -> None:
    compiled = Templates()
    environment = compiled._environments[False]
    batches = Batches(load)
    collected: list[Any] = []
    given = {"obj": Object(batches, 0, 0), "queryset": Queryset([Object(batches, 0, 0), Object(batches, 0, 1)])}
    template = compiled.compile(COLLECTED, lines=False)
    template.render({**given, "collect": Function(collected.append)})
    context = template.new_context(given)
    roots = [
        *given.items(),
        *environment.globals.items(),
        *((f"collected {place}", thing) for place, thing in enumerate(collected)),
    ]
    roots += [
        (f"collected item {place}", thing)
        for each in collected
        if type(each) is list
        for place, thing in enumerate(each)
    ]
    roots += [(name, batches.value(0, 0, name)) for name in EXAMPLES if name != "hidden"]
    roots += [(f"format .{name}", environment.getattr("{0." + name + "!r:.0}", "format")) for name in INSIDES.split()]
    visited: set[type] = set()

    def visit(path: str, thing: Any) -> None:
        visited.add(type(thing))
        assert is_plain(environment, thing), f"{path} is {thing!r}"

    walk(environment, context, roots, visit, 3)
    assert {
        Object,
        Queryset,
        Members,
        Function,
        Macro,
        LoopContext,
        Cycler,
        Joiner,
        Namespace,
        datetime.datetime,
        decimal.Decimal,
    } <= visited


def test_functions_are_not_callable_by_their_types() -> None:
    environment = Templates()._environments[False]
    for thing in (
        str.format,
        str.upper,
        str,
        type,
        dict,
        int.from_bytes,
        datetime.datetime.now,
        len,
        open,
        print,
        Object,
        Queryset.__getattr__,
        load,
    ):
        assert not environment.is_safe_callable(thing), thing


# -- attacks, wherever templates are written

ATTACKS = [
    'get_status_display.func.format("{0._crowd.context.registry.settings}", OBJ)',
    'get_status_display.__func__.format("{0._batches._load}", OBJ)',
    "get_status_display.__call__.__globals__",
    "get_status_display._function.__globals__",
    "name.format.__self__.__class__.__mro__",
    '"{0.__class__.__init__.__globals__}".format(OBJ)',
    '"{x._batches}".format_map({"x": OBJ})',
    '"%(_batches)s" % OBJ',
    "_batches._load.__self__._descriptor",
    "__init__.__globals__",
    "status._batches",
    'name.__class__.format("{0._batches}", OBJ)',
    'tags.all.func.format("{0._batches}", OBJ)',
    "custom_fields.items.__self__.__class__",
    "created.tzinfo.__class__",
    "created.__class__.__subclasses__()",
]
GLOBALS = [
    "self._TemplateReference__context",
    "self.__init__.__globals__",
    "cycler.__init__.__globals__.os.environ",
    "joiner.func.__globals__",
    "namespace.__init__.__globals__",
    "range.__class__.__mro__",
    "dict.__base__.__subclasses__()",
    "lipsum.__globals__.os.popen('id').read()",
    "(joiner|attr('_function')).__globals__",
    "[self]|map(attribute='_TemplateReference__context')|list",
    "([self]|groupby('__class__'))[0].grouper",
    "caller.__globals__",
    "nothing._undefined_obj.__class__",
    "(1).from_bytes.__self__",
    "().__class__.__bases__[0].__subclasses__()",
]
LEAKS = (
    "for tests only",
    "sqlite",
    "postgresql",
    "mysql",
    "Registry",
    "<class",
    "<function _",
    "<bound method",
    " at 0x",
    "environ",
    "object at",
)


def attacks(name: str) -> list[str]:
    """The attacks on a variable, and those on what every template has, as expressions."""
    direct = [
        attack.replace("OBJ", name) if attack.startswith('"') else f"{name}.{attack.replace('OBJ', name)}"
        for attack in ATTACKS
    ]
    return [*direct, *GLOBALS]


def leaks(text: str) -> list[str]:
    """The forbidden words that a text contains."""
    return [word for word in LEAKS if word in text]


@pytest.mark.parametrize("number", range(len(ATTACKS) + len(GLOBALS)))
def test_attacks_on_exports_and_computed_fields_yield_nothing(
    api: Api, service: Service, make: Any, number: int
) -> None:
    site, word = make("/api/dcim/sites/", status="active"), service.unique()
    expression = attacks("obj")[number]
    body = {
        "slug": word.replace("-", "_"),
        "label": word,
        "content_type": "dcim.site",
        "template": "{{ " + expression + " }}",
        "fallback_value": "-",
    }
    field = api.post("/api/extras/computed-fields/", body)
    shown = api.get(site["url"], {"include": "computed_fields"})["computed_fields"][field["slug"]]
    api.delete(field["url"])
    assert shown in ("-", "", "[Undefined]") and not leaks(shown), expression
    code = "{% for obj in queryset %}{{ " + expression + " }}{% endfor %}{{ " + attacks("queryset")[number] + " }}"
    template = api.post(
        "/api/extras/export-templates/", {"name": word, "content_type": "dcim.site", "template_code": code}
    )
    answer = api.send(
        "GET", "/api/dcim/sites/", query={"export": template["name"], "id": site["id"]}, status=[200, 400]
    )
    assert not leaks(answer.text), expression


@pytest.mark.night
def test_attacks_on_webhooks_yield_nothing(sending_service: Service) -> None:
    service = sending_service
    source = "{{ X }}|{{ data.name }}"
    with Receiver() as receiver:
        hooks = []
        for place, expression in enumerate(attacks("data") + attacks("event")):
            body = {
                "content_types": ["tenancy.tenantgroup"],
                "type_create": True,
                "payload_url": f"{receiver.url}/{place}",
            }
            body |= {"name": service.unique(), "body_template": source.replace("X", expression)}
            body |= {"http_content_type": "text/plain"}
            hooks.append(service.api.post("/api/extras/webhooks/", body))
        service.api.post("/api/tenancy/tenant-groups/", {"name": service.unique(), "slug": service.unique()})
        assert deliver_now(service.engine, service.registry, 60)
        received = [request.body.decode() for request in receiver.received]
    attempts = [
        service.api.get("/api/extras/webhook-deliveries/", {"webhook_id": hook["id"]})["results"] for hook in hooks
    ]
    for hook in hooks:
        service.api.delete(hook["url"])
    assert sum(map(len, attempts)) == len(hooks)
    assert not [text for text in [*received, str(attempts)] if leaks(text)]


@pytest.mark.night
def test_custom_links_and_job_buttons_are_compiled_and_kept_as_they_are(api: Api, service: Service) -> None:
    job = service.examples["extras.jobbutton"]["job"]
    for expression in attacks("obj"):
        text = "{{ " + expression + " }}"
        link = {
            "name": service.unique(),
            "content_type": "dcim.site",
            "text": text,
            "target_url": text,
            "new_window": False,
        }
        made = api.post("/api/extras/custom-links/", link)
        assert (made["text"], made["target_url"]) == (text, text)
        button = api.post(
            "/api/extras/job-buttons/",
            {"name": service.unique(), "content_types": ["dcim.site"], "text": text, "job": job},
        )
        assert button["text"] == text
        for shown in (made, button):
            api.delete(shown["url"])


# -- templates that do not compile, or only with too much of something

NESTED = "{{ " + "(" * 20000 + "1" + ")" * 20000 + " }}"


@pytest.mark.parametrize(
    "code",
    [
        NESTED,
        "{{ " + "[" * 40000,
        "{% if 1 %}" * 5000,
        "{{ " + "not " * 20000 + "1 }}",
        "{{ " + "1 + " * 20000 + "1 }}",
        "{{ x" + "|upper" * 16000 + " }}",
        "x" * 100_001,
    ],
)
def test_a_template_that_is_too_much_to_compile_is_refused(api: Api, unique: Any, code: str) -> None:
    error = api.post(
        "/api/extras/export-templates/",
        {"name": unique(), "content_type": "dcim.site", "template_code": code},
        status=400,
    )
    assert list(error) == ["template_code"]
    assert error["template_code"][0].startswith(
        ("This template does not compile.", "Ensure this field has no more than 100000 characters.")
    )


@pytest.mark.night
def test_constants_are_not_made_when_a_template_is_saved() -> None:
    limits = sandbox.RenderLimits.of({name: default for name, (_, default) in feature.settings.items()})
    for source in (
        "{{ 'x' * 10 ** 9 }}",
        "{{ 9 ** 9999999 }}",
        "{{ 'x'|center(10 ** 9) }}",
        "{{ ['x' * 1000000] * 1000|join }}",
    ):
        (fault,) = sandbox.faults([sandbox.Rendering(source, None)], limits)
        assert fault is None or "longer than 2 s" in fault or "256 MiB" in fault

"""The renderer: templates in processes of their own that can be killed, with limits on time, memory and length."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from netinv_extras.templates import renderer_pool, sandbox
from netinv_extras.templates.feature import feature
from netinv_extras.templates.renderer import frames, values
from netinv_extras.templates.renderer.values import ObjectRef
from netinv_extras.templates.sandbox import RenderError, Rendering, RenderLimits
from netinv_testing import Service
from tests.support.processes import processor_seconds, runs

LIMITS = RenderLimits.of({name: default for name, (_, default) in feature.settings.items()})
TWINS = "{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}{% endfor %}"
FREEZE = TWINS + "{{ ns.a == ns.b }}"  # 2**60 comparisons in C: nothing but a kill ends them

UNHURRIED = {"seconds": 60.0, "total": 60.0}  # limits that a busy machine does not reach


def made(*sources: str, variables: Any = None, loader: Any = None, **limits: Any) -> list[Any]:
    """The results of sources, with variables that are the same for all."""
    given = {} if variables is None else variables
    renderings = [Rendering(source, given) for source in sources]
    return sandbox.render(renderings, dataclasses.replace(LIMITS, **limits), loader)


def reason(source: str, **limits: Any) -> str:
    """Why a source fails."""
    (result,) = made(source, **limits)
    assert isinstance(result, RenderError), result
    return str(result)


def unlike(source: str) -> str:
    """A source that nothing else has: how often it ran out of time counts for it alone."""
    return f"{source}{{# {uuid.uuid4()} #}}"


@pytest.fixture
def pool() -> Iterator[renderer_pool.PoolLimits]:
    """The limits of a pool that nobody else uses, of one process; closed after the test."""
    limits = dataclasses.replace(LIMITS.pool, processes=1, memory=LIMITS.pool.memory + uuid.uuid4().int % 2**16 * 4096)
    yield limits
    renderer_pool.pool(limits).close()


class Column:
    """A loader whose objects have every attribute; ``on_load`` is called with its name first."""

    kind = "test"

    def __init__(self, on_load: Callable[[str], None] = lambda name: None) -> None:
        self._on_load = on_load

    def column(self, batch: int, name: str) -> Any:
        self._on_load(name)
        return values.ColumnValue(["x"] * 2)


OBJ = {"obj": ObjectRef(0, 0)}


# -- each is broken off, with its own error


@pytest.mark.parametrize(
    "source",
    [
        FREEZE,
        TWINS + "{{ ns.a }}",
        TWINS + "{{ ns.a|tojson }}",
        TWINS + "{{ ns.a|pprint }}",
        TWINS + "{{ {}[ns.a|string] }}",
        "{% for x in ['a' * 1000000] * 1000000 %}{{ x|upper|length }}{% endfor %}",
        "{% for i in range(10 ** 12) %}{% endfor %}",
        "{{ range(10 ** 12)|list }}",
        "{{ range(10 ** 12)|sum }}",
        "{{ range(10 ** 12)|batch(2)|list }}",
        "{{ range(10 ** 12)|slice(2)|list }}",
        "{{ range(10 ** 12)|random in range(10 ** 13)|map('string') }}",
        "{{ 9 ** (9 ** 9) }}",
        "{% set ns = namespace(x=9) %}{% for i in range(60) %}{% set ns.x = ns.x * ns.x %}{% endfor %}{{ ns.x > 1 }}",
        "{{ ('9' * 10000000)|int * ('9' * 4000)|int }}{{ 'x' * 10 ** 9 }}",
        "{{ 'x'|center(10 ** 10) }}",
        "{{ 'x'.rjust(10 ** 10) }}{{ 'x'.zfill(10 ** 10) }}",
        "{{ '%9999999999d' % 1 }}",
        "{{ '%.*f' % (999999999, 1.5) }}",
        "{{ '{:>9999999999}'.format(1) }}",
        "{{ '{:{}}'.format(1, 9999999999) }}",
        "{{ ('a\n' * 5000000)|indent(5000)|length }}",
        "{{ ('a ' * 50000000)|wordwrap(1)|length }}",
        "{{ ('a' * 50000000)|replace('a', 'b' * 1000)|length }}",
        "{{ (['a' * 1000000] * 1000000)|join|length }}",
        "{{ ('http://a.b/ ' * 50000000)|urlize|length }}",
        "{{ ('<a ' * 50000000)|striptags|length }}",
        "{{ ('\t' * 1000000).expandtabs(1000000)|length }}",
        "{{ 'x'.encode().hex() * 10 ** 10 }}",
        "{{ dict(a=1)|xmlattr * 10 ** 10 }}",
        "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
        "{% for x in [1] recursive %}{{ loop([x]) }}{% endfor %}",
        "{% set x %}{% for i in range(10 ** 9) %}aaaaaaaaaaaaaaaaaaaaaaaa{% endfor %}{% endset %}",
        "{% for i in range(100000) %}{{ 'x' * 1000 }}{% endfor %}",
    ],
)
@pytest.mark.night
def test_what_takes_too_much_is_broken_off(source: str) -> None:
    bomb, good = made(unlike(source), "good", seconds=1.0, total=60.0)
    assert isinstance(bomb, RenderError)
    assert good == "good"


@pytest.mark.night
def test_the_reasons_are_told() -> None:
    assert reason(unlike(FREEZE), seconds=0.2) == "it takes longer than 0.2 s"
    assert reason(unlike("{% for i in range(10 ** 12) %}{% endfor %}"), seconds=0.2) == "it takes longer than 0.2 s"
    assert reason(unlike("{{ ('x' * 10 ** 9)|length }}")) == "it needs more than 256 MiB of memory"
    assert reason("{{ 'x' * 11 }}", longest=10) == "it makes too much text (netinv.template_max_output)"
    assert reason("x" * 11, longest_source=10) == "the template is longer than 10 characters"
    assert reason("{{ 1 / 0 }}") == "Line 1: ZeroDivisionError: division by zero"
    assert reason("{% if %}").startswith("Line 1: ")
    assert "nested too deeply" in reason("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")


@pytest.mark.night
def test_renderings_have_a_time_together() -> None:
    sources = [unlike("{% for i in range(10 ** 12) %}{% endfor %}") for _ in range(3)]
    assert made("warm") == ["warm"]  # starts the process, so that its start is not counted
    results = made("first", *sources, "last", seconds=10.0, total=3.0)
    assert results[0] == "first"
    assert {str(result) for result in results[1:]} == {
        "there was no more time: the templates of one request have 3 s together"
    }


@pytest.mark.parametrize("count", [1, 50])
@pytest.mark.night
def test_one_that_kills_its_process_costs_the_others_nothing(count: int) -> None:
    bomb = unlike("{% if n == 7 %}" + FREEZE + "{% endif %}{{ n }}")
    renderings = [Rendering(bomb, {"n": number}) for number in range(6, 6 + count)] + [Rendering("{{ n }}!", {"n": 1})]
    results = sandbox.render(renderings, dataclasses.replace(LIMITS, seconds=2.0, total=60.0))
    numbers = [str(number) for number in range(6, 6 + count)]
    assert [result for result in results if isinstance(result, str)] == [
        number for number in numbers if number != "7"
    ] + ["1!"]


@pytest.mark.night
def test_what_runs_out_of_time_again_and_again_is_refused_for_a_while() -> None:
    source = unlike(FREEZE)
    reasons = [str(result) for result in made(*[source] * 5, seconds=0.2, total=60.0)]
    assert reasons[:3] == ["it takes longer than 0.2 s"] * 3
    assert reasons[3:] == ["it ran out of time or memory 3 times: it is not tried again for 60 s"] * 2
    assert made(source.replace(FREEZE, "other"), **UNHURRIED)[0].startswith("other")
    assert reason(source, seconds=0.2, pause=0.001) == "it takes longer than 0.2 s"


def test_too_much_to_load_is_refused() -> None:
    (result,) = made(
        "{% for i in range(2000) %}{{ obj['a%d' % i] }}{% endfor %}", variables=OBJ, loader=Column(), **UNHURRIED
    )
    assert str(result) == "Line 1: it asks for too many attributes of too many objects"
    often = "{% for i in range(2000) %}{{ obj.name }}{% endfor %}"
    assert made(often, variables=OBJ, loader=Column(), **UNHURRIED) == ["x" * 2000]
    asked: list[str] = []
    made(
        "{{ obj._x }}{{ obj['__class__'] }}{{ obj|attr('_y') }}{{ '{0._z}'.format(obj) }}",
        variables=OBJ,
        loader=Column(asked.append),
    )
    assert asked == []


def test_what_was_asked_for_last_time_is_sent_along_the_next_time() -> None:
    source = unlike("{{ obj.a }}{% if obj.b == 'x' %}{{ obj.c }}{% endif %}")
    for _ in range(2):
        asked: list[str] = []
        assert made(source, variables=OBJ, loader=Column(asked.append)) == ["xx"]
        assert asked == ["a", "b", "c"]


# -- values


def test_values_arrive_as_they_were_and_halves_of_surrogates_leave_replaced() -> None:
    data = {"big": 10**40, "half": "\ud800", "nested": {"a": [1, None, True, 1.5]}, "tagged": ["o", 0, 0], "items": 3}
    source = "{{ data.big + 1 }} {{ data.half }} {{ data.nested }} {{ data.tagged[0] }} {{ data['items'] }} {{ data.nested.a|tojson }}"
    assert made(source, variables={"data": data}) == [f"{10**40 + 1} \ufffd {data['nested']} o 3 [1, null, true, 1.5]"]


# -- processes


def test_a_process_has_no_environment_no_files_and_serves_many(pool: renderer_pool.PoolLimits) -> None:
    made("{{ 1 }}", pool=pool)
    (process,) = renderer_pool.pool(pool).processes()
    proc = Path(f"/proc/{process.pid}")
    assert set(proc.joinpath("environ").read_text().split("\x00")) <= {
        "",
        *(f"{name}={os.environ.get(name)}" for name in renderer_pool.ENVIRONMENT),
    }
    targets = [str(each.readlink()).partition(":")[0] for each in proc.joinpath("fd").iterdir()]
    assert sorted(targets) == ["/dev/null", "/dev/null", "pipe", "socket"]
    assert "secret" not in proc.joinpath("cmdline").read_text()
    for _ in range(5):
        assert made("{{ 2 }}", pool=pool) == ["2"]
    assert [each.pid for each in renderer_pool.pool(pool).processes()] == [process.pid]


def test_a_process_that_is_killed_in_the_middle_is_replaced_and_nothing_is_lost(pool: renderer_pool.PoolLimits) -> None:
    killed: list[int] = []

    def kill(name: str) -> None:
        if not killed:
            (process,) = renderer_pool.pool(pool).processes()
            os.kill(process.pid, signal.SIGKILL)
            killed.append(process.pid)

    assert made("before", "{{ obj.name }}", "after", variables=OBJ, loader=Column(kill), pool=pool, **UNHURRIED) == [
        "before",
        "x",
        "after",
    ]
    (process,) = renderer_pool.pool(pool).processes()
    assert killed and process.pid not in killed
    os.kill(process.pid, signal.SIGKILL)
    assert made("idle", pool=pool, **UNHURRIED) == ["idle"]


def test_an_error_of_the_loader_is_the_callers(pool: renderer_pool.PoolLimits) -> None:

    def fail(name: str) -> None:
        raise LookupError(name)

    with pytest.raises(LookupError):
        made("{{ obj.name }}", variables=OBJ, loader=Column(fail), pool=pool)
    assert made("after", pool=pool) == ["after"]


def test_others_wait_for_a_process_and_not_for_ever(pool: renderer_pool.PoolLimits) -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold(name: str) -> None:
        inside.set()
        leave.wait(60)

    results: list[Any] = []
    thread = threading.Thread(
        target=lambda: results.extend(
            made("{{ obj.name }}", variables=OBJ, loader=Column(hold), pool=pool, seconds=60.0, total=60.0)
        )
    )
    thread.start()
    assert inside.wait(60)
    assert reason("x", pool=pool, total=0.05) == "no renderer is free"
    leave.set()
    assert made("x", pool=pool, total=60.0) == ["x"]
    thread.join()
    assert results == ["x"]


@pytest.mark.night
def test_other_threads_run_while_a_template_is_in_c_and_what_always_ends_its_process_fails_alone(
    service: Service, pool: renderer_pool.PoolLimits
) -> None:
    results: list[Any] = []
    sources = ["before", unlike(FREEZE), "after"]
    thread = threading.Thread(target=lambda: results.extend(made(*sources, pool=pool, seconds=600.0, total=600.0)))
    thread.start()
    for _ in range(5):
        service.api.get("/api/dcim/sites/", {"limit": 1})
    assert thread.is_alive()
    while thread.is_alive():  # a first death may have come from outside: it is tried again
        for process in renderer_pool.pool(pool).processes():
            if processor_seconds(process.pid) > 1:  # it has started, and is at the template
                os.kill(process.pid, signal.SIGKILL)
        thread.join(0.05)
    assert [str(result) for result in results] == ["before", "it ends the renderer", "after"]


def test_a_forked_process_has_renderers_of_its_own(pool: renderer_pool.PoolLimits) -> None:
    made("x", pool=pool)
    (process,) = renderer_pool.pool(pool).processes()
    child = os.fork()
    if child == 0:
        same = made("{{ 1 + 1 }}", pool=pool) == ["2"] and renderer_pool.pool(pool).processes()[0].pid != process.pid
        renderer_pool.pool(pool).close()
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert made("y", pool=pool) == ["y"] and renderer_pool.pool(pool).processes()[0].pid == process.pid


PARENT = """
import time
from netinv_extras.templates.feature import feature
from netinv_extras.templates import renderer_pool, sandbox
limits = sandbox.RenderLimits.of({name: default for name, (_, default) in feature.settings.items()})
assert sandbox.render([sandbox.Rendering("x", {})], limits) == ["x"]
print(renderer_pool.pool(limits.pool).processes()[0].pid, flush=True)
time.sleep(600)
"""


@pytest.mark.night
def test_renderers_end_with_the_process_that_started_them_however_it_ends() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 60
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not runs(pid)


# -- frames


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\x00\x00\x05\x00\x00\x00\x00hello",
        b"\x00\x00\x00\x02\x00\x00\x00\x00[]",
        b"\x00\x00\x00\x02\x00\x00\x00\x00\xff\xff",
        b"\xff\xff\xff\xff\x00\x00\x00\x00",
        b"\x00\x00\x00\x02\xff\xff\xff\xff{}",
        b"\x00\x00\x08\x00\x00\x00\x00\x00" + b"[" * 2048,
    ],
)
def test_what_is_no_frame_is_refused(content: bytes) -> None:
    rest = bytearray(content)

    def receive(count: int) -> bytes:
        part = bytes(rest[:count])
        del rest[:count]
        return part

    with pytest.raises(frames.BadFrame):
        frames.read(receive, frames.MAX_HEAD_BYTES, 100)

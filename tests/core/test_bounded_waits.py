"""Waiting has an end: every call that waits for a process, thread, queue or peer names a time, or is listed here."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support import REPOSITORY

# Methods that wait without an argument.
OF_WAITS = {"wait", "join", "communicate", "acquire", "result", "get"}
# Functions that wait: the position of the time among their arguments, or ``None`` where it has to be named.
OF_FUNCTIONS: dict[str, int | None] = {
    **dict.fromkeys(("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output")),
    **dict.fromkeys(("requests.get", "requests.post", "requests.request", "self._session.get", "self._session.post")),
    **dict.fromkeys(("urllib.request.urlopen", "os.waitpid", "os.wait")),
    **{"socket.create_connection": 1, "select.select": 3, "self._changed.wait_for": 1},
}
# Methods of sockets, which wait for as long as ``settimeout`` says.
OF_SOCKETS = {"recv", "recv_into", "sendall", "accept", "recv_fds", "connect"}
# Functions that wait without a time, with the reason.
UNBOUNDED = {
    ("netinv_core/tasks/queue.py", "_run"): "a daemon thread waits for work, and ends with its process",
    ("netinv_extras/jobs/child.py", "_ask"): "a job waits for its worker; its process ends when the worker's does",
    ("netinv_extras/jobs/forkserver.py", "send"): "a few hundred bytes, which the socket holds",
    ("netinv_extras/jobs/forkserver.py", "receive"): "it reads what select has announced",
}


def sources() -> dict[str, ast.Module]:
    """The modules of all packages by path, without those for tests."""
    found: dict[str, ast.Module] = {}
    for package in sorted(REPOSITORY.glob("netinv_*/pyproject.toml")):
        for path in sorted(package.parent.rglob("*.py")):
            name = path.relative_to(REPOSITORY).as_posix()
            if not {"testing", "build", "netinv_testing"} & set(Path(name).parts):
                found[name] = ast.parse(path.read_text())
    return found


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions and methods of a module."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def context_variables(modules: Iterable[ast.Module]) -> set[str]:
    """The names of context variables, whose ``get`` does not wait."""
    assigned = (node for module in modules for node in module.body if isinstance(node, ast.AnnAssign | ast.Assign))
    return {
        ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])
        for node in assigned
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith("ContextVar")
    }


def is_unbounded(call: ast.Call, without_waiting: set[str]) -> bool:
    """True for a call that waits and names no time."""
    if not isinstance(call.func, ast.Attribute) or {keyword.arg for keyword in call.keywords} & {"timeout", "blocking"}:
        return False
    function = ast.unparse(call.func)
    if function in OF_FUNCTIONS:
        position = OF_FUNCTIONS[function]
        return position is None or len(call.args) <= position
    is_waiting = call.func.attr in OF_WAITS and not call.args and not isinstance(call.func.value, ast.Call)
    return is_waiting and ast.unparse(call.func.value) not in without_waiting


def unbounded(modules: dict[str, ast.Module]) -> dict[tuple[str, str], str]:
    """The calls that wait without a time, by path and function; those of sockets unless it sets their time itself."""
    variables = context_variables(modules.values())
    found: dict[tuple[str, str], str] = {}
    for path, module in modules.items():
        has_sockets = any(isinstance(node, ast.Import) and node.names[0].name == "socket" for node in module.body)
        for function in functions(module):
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
            methods = {call.func.attr for call in calls if isinstance(call.func, ast.Attribute) and call.args}
            if has_sockets and methods & OF_SOCKETS and "settimeout" not in methods:
                found[path, function.name] = f"{path}:{function.lineno} {function.name}"
            for call in calls:
                if is_unbounded(call, variables):
                    found[path, function.name] = f"{path}:{call.lineno} {ast.unparse(call)}"
    return found


@pytest.mark.night
def test_every_wait_names_a_time() -> None:
    """Those that do not are listed with a reason, and the list has no others."""
    found = unbounded(sources())
    assert [text for key, text in found.items() if key not in UNBOUNDED] == []
    assert sorted(UNBOUNDED.keys() - found.keys()) == []


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("process.wait()", True),
        ("process.wait(5)", False),
        ("thread.join()", True),
        ("', '.join(names)", False),
        ("queue.get()", True),
        ("current.get()", False),
        ("subprocess.run(['git'])", True),
        ("subprocess.run(['git'], timeout=5)", False),
        ("changed.wait_for(done, 5)", False),
        ("self._changed.wait_for(done)", True),
        ("lock.acquire(blocking=False)", False),
        ("peer.recv(5)", True),
        ("peer.settimeout(5), peer.recv(5)", False),
    ],
)
def test_the_walk_finds_a_wait_without_a_time(line: str, is_found: bool) -> None:
    module = ast.parse(f"import socket\ncurrent: V = contextvars.ContextVar('x')\ndef f(self): {line}")
    assert bool(unbounded({"m.py": module})) is is_found

"""Static analysis of jobs written for Nautobot: the lines to change, each with a replacement. Nothing is executed."""

from __future__ import annotations

import ast
import dataclasses
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from netinv_extras.jobs import advice
from netinv_extras.jobs.declarations import META, REFUSED_METHODS, REFUSED_SETTINGS
from netinv_extras.jobs.imports import ELSEWHERE, JOB_API, PARENTS, SAME

BASES = ("Job", "JobHookReceiver", "JobButtonReceiver", "BaseJob", "Script", "Report")
OBJECT_VARIABLES = ("ObjectVar", "MultiObjectVar")
OBJECT_PARAMETERS = {"receive_job_button": (1,), "receive_job_hook": (1, 3)}
ANY_LABEL = '"app.model"'
_OF_LISTS = {"all", "filter", "exclude", "order_by", "distinct", "select_related", "prefetch_related", "first", "last"}
_OF_OTHERS = {"exists", "filter", "first", "iterator", "save", "values"}  # methods that objects of libraries have, too
_OF_DICTIONARIES = {"get", "items", "keys", "values", "pop", "update", "copy", "setdefault"}


@dataclasses.dataclass(frozen=True, order=True)
class Remark:
    """A line that has to change: where it is, what stands there, and what to write instead."""

    path: str
    line: int
    what: str
    replacement: str


def files(path: Path) -> list[Path]:
    """Returns the Python files at a path: the file itself, or those of the folder and its subfolders."""
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def check(code: bytes, path: str) -> list[Remark]:
    """Returns the remarks about a module, in the order of its lines."""
    try:
        tree = ast.parse(code, path)
    except (SyntaxError, ValueError) as error:
        return [Remark(path, getattr(error, "lineno", None) or 1, "this is not Python", str(error))]
    analysis = _Analysis(path)
    analysis.visit(tree)
    return sorted(analysis.remarks)


class _Analysis(ast.NodeVisitor):
    """Visitor that collects remarks. It knows the imported models, and the names that hold objects of the inventory."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.remarks: set[Remark] = set()
        self._models: dict[str, str] = {}  # names, with the labels of the models as text
        self._imported: set[str] = set()
        self._variables: dict[str, str] = {}  # of objects, with labels
        self._objects: dict[str, str] = {}  # names in the function, with labels
        self._chained: set[int] = set()  # ids of nodes that a remark on the expression around them covers

    def _add(self, node: ast.AST, what: str, replacement: str, label: str = ANY_LABEL) -> None:
        place = Remark(self._path, getattr(node, "lineno", 1), " ".join(what.split())[:80], "")
        self.remarks.add(dataclasses.replace(place, replacement=replacement.replace("{label}", label)))

    # -- imports

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.partition(".")[0] not in ELSEWHERE or (alias.asname and alias.name in SAME):
                continue
            self._add(node, f"import {alias.name}", advice.WHOLE_IMPORT if alias.name in SAME else advice.OTHER_IMPORT)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module.partition(".")[0] not in ELSEWHERE:
            return
        names = [alias.name for alias in node.names]
        if module in SAME:
            known = set(importlib.import_module(JOB_API).__all__) | {"*"}
            for name in names:
                if name not in known:
                    self._add(node, f"from {module} import {name}", advice.MISSING_NAME)
            return
        if module in PARENTS and names == ["jobs"]:
            return
        labels = self._models_of(module, node.names)
        if labels:
            self._add(node, ast.unparse(node), advice.MODEL.replace("{labels}", ", ".join(labels)))
            return
        for alias in node.names:
            self._imported.add(alias.asname or alias.name)
            known_import = advice.IMPORTS.get((module, alias.name), advice.OTHER_IMPORT)
            self._add(node, f"from {module} import {alias.name}", known_import)

    def _models_of(self, module: str, names: list[ast.alias]) -> list[str]:
        """Notes the models that are imported from a module of models; returns their labels."""
        package, _, rest = module.partition(".")
        application, _, models = rest.partition(".")
        if package != "nautobot" or models.partition(".")[0] != "models":
            return []
        found = {alias.asname or alias.name: f'"{application}.{alias.name.lower()}"' for alias in names}
        self._models |= found
        return list(found.values())

    # -- classes

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        is_job = any(ast.unparse(base).rpartition(".")[2] in BASES for base in node.bases)
        meta = next((item for item in node.body if isinstance(item, ast.ClassDef) and item.name == "Meta"), None)
        is_job |= meta is not None
        outer, self._variables = self._variables, {**self._variables}
        for name, call in _assigned_calls(node):
            if ast.unparse(call.func).rpartition(".")[2] in OBJECT_VARIABLES:
                self._variables[name] = self._check_object_variable(call)
        if is_job and meta is not None:
            self._check_meta(meta)
        for item in node.body:
            if is_job and isinstance(item, ast.FunctionDef) and item.name in REFUSED_METHODS:
                self._add(item, f"def {item.name}", f"it is never called: {REFUSED_METHODS[item.name]}")
            if item is not meta:
                self.visit(item)
        self._variables = outer

    def _check_object_variable(self, call: ast.Call) -> str:
        """Checks the options of a variable of objects; returns the label of its model."""
        label = ANY_LABEL
        for keyword in call.keywords:
            if keyword.arg == "model":
                if isinstance(keyword.value, ast.Constant):
                    return f'"{str(keyword.value.value).lower()}"'
                name = ast.unparse(keyword.value)
                label = self._models.get(name, ANY_LABEL)
                if name in self._models or name.partition(".")[0] in self._imported:
                    self._add(keyword.value, f"model={name}", advice.LABEL_OF_MODEL, label)
            elif keyword.arg == "display_field":
                self._add(keyword.value, "display_field", advice.DISPLAY_FIELD)
        return label

    def _check_meta(self, meta: ast.ClassDef) -> None:
        values: dict[str, ast.expr] = {}
        for item in [item for item in meta.body if isinstance(item, ast.Assign)]:
            for target in item.targets:
                if isinstance(target, ast.Name):
                    values[target.id] = item.value
                    if target.id not in META:
                        instead = REFUSED_SETTINGS.get(target.id, f"known are {', '.join(META)}")
                        self._add(item, f"Meta.{target.id}", instead)
        approval, sensitive = values.get("approval_required"), values.get("has_sensitive_variables")
        if _is(approval, True) and not meta.bases and not _is(sensitive, False):
            self._add(approval or meta, "Meta.approval_required", advice.SENSITIVE)

    # -- functions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self._objects
        parameters = [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
        self._objects = {name: self._variables[name] for name in parameters if name in self._variables}
        for index in OBJECT_PARAMETERS.get(node.name, ()):
            self._objects |= dict.fromkeys(parameters[index : index + 1], ANY_LABEL)
        self.generic_visit(node)
        self._objects = outer

    def visit_Assign(self, node: ast.Assign) -> None:
        label = self._label_of(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                if label is None:
                    self._objects.pop(target.id, None)
                else:
                    self._objects[target.id] = label
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        label = self._label_of(node.iter)
        if label is not None and isinstance(node.target, ast.Name):
            self._objects[node.target.id] = label
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        label = self._label_of(node.iter)
        if label is not None and isinstance(node.target, ast.Name):
            self._objects[node.target.id] = label
        self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        """Visits the generators of a comprehension before the expression that uses their names."""
        for generator in getattr(node, "generators", ()):
            self.visit(generator)
        super().generic_visit(node)

    def _label_of(self, node: ast.AST) -> str | None:
        """Returns the label of the objects that an expression gives, ``None`` if it gives none."""
        if isinstance(node, ast.Name):
            return self._objects.get(node.id)
        if isinstance(node, ast.Subscript):
            of_data = ast.unparse(node.value) == "data" and isinstance(node.slice, ast.Constant)
            return self._variables.get(ast.literal_eval(node.slice)) if of_data else None
        if isinstance(node, ast.Call):
            manager = _manager(node)
            if manager is not None:
                return self._models.get(manager, ANY_LABEL)
            if isinstance(node.func, ast.Attribute) and node.func.attr in _OF_LISTS:
                related = node.func.value
                of_object = isinstance(related, ast.Attribute) and self._label_of(related.value) is not None
                return ANY_LABEL if of_object else self._label_of(related)
            return self._models.get(ast.unparse(node.func)) if isinstance(node.func, ast.Name) else None
        return None

    # -- expressions

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Name) and function.id in self._models:
            self._add(node, f"{function.id}(…)", advice.CREATE, self._models[function.id])
        elif isinstance(function, ast.Attribute):
            self._check_method(node, function)
        self.generic_visit(node)

    def _check_method(self, node: ast.Call, function: ast.Attribute) -> None:
        receiver = ast.unparse(function.value)
        if receiver.startswith(("self.inventory", "self.log")):
            return
        name = function.attr
        if isinstance(function.value, ast.Attribute) and function.value.attr == "objects":
            model = ast.unparse(function.value.value)
            replacement = advice.MANAGER.get(name) or advice.METHODS.get(name, advice.READ_LIST)
            self._add(node, f"{model}.objects.{name}(…)", replacement, self._models.get(model, ANY_LABEL))
        elif receiver.endswith(".tags") and name in {"add", "remove", "set"}:
            self._add(node, f"{receiver}.{name}(…)", advice.TAGS, self._objects.get(receiver[:-5], ANY_LABEL))
        elif name in advice.METHODS and (name not in _OF_OTHERS or self._is_of_models(function.value)):
            label = self._label_of(function.value)
            of_list = label is not None and name in advice.MANAGER
            replacement = advice.MANAGER[name] if of_list else advice.METHODS[name]
            self._add(node, f"{_short(receiver)}.{name}(…)", replacement, label or ANY_LABEL)
        elif name == "delete" and (receiver in self._objects or _manager(function.value) is not None):
            self._add(node, f"{_short(receiver)}.delete()", advice.DELETE, self._label_of(function.value) or ANY_LABEL)
        else:
            return
        self._chained |= {id(function), id(function.value)}

    def _is_of_models(self, node: ast.expr) -> bool:
        """Returns true for an expression that gives objects, or the related objects of one."""
        related = node.value if isinstance(node, ast.Attribute) else node
        return self._label_of(related) is not None or _manager(node) is not None

    def visit_Attribute(self, node: ast.Attribute) -> None:
        receiver = ast.unparse(node.value)
        if id(node) in self._chained:
            pass
        elif receiver == "self" and node.attr in advice.OF_JOB:
            self._add(node, f"self.{node.attr}", advice.OF_JOB[node.attr])
        elif node.attr in advice.ATTRIBUTES:
            self._add(node, f"{_short(receiver)}.{node.attr}", advice.ATTRIBUTES[node.attr])
        elif node.attr not in _OF_DICTIONARIES and _is_instance(node.value) and self._label_of(node.value):
            written = isinstance(node.ctx, ast.Store)
            advised = advice.WRITTEN if written else advice.INSTANCE
            what = f"{receiver}.{node.attr}{' =' if written else ''}"
            self._add(node, what, advised.replace("{receiver}", receiver).replace("{name}", node.attr))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in self._imported and node.id in advice.USES:
            self._add(node, node.id, advice.USES[node.id])


def _assigned_calls(node: ast.ClassDef) -> Iterator[tuple[str, ast.Call]]:
    """Yields the names in the body of a class that are assigned the value of a call, with the call."""
    for item in node.body:
        if isinstance(item, ast.Assign) and isinstance(item.value, ast.Call):
            for target in item.targets:
                if isinstance(target, ast.Name):
                    yield target.id, item.value


def _is(node: ast.expr | None, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _is_instance(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Subscript)


def _manager(node: ast.AST) -> str | None:
    """Returns the name of the model in a chain of calls that begins with ``Model.objects``."""
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Attribute) and node.attr == "objects":
            return ast.unparse(node.value)
        node = node.func if isinstance(node, ast.Call) else node.value
    return None


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def as_json(remark: Remark) -> Mapping[str, str | int]:
    """Returns a remark as JSON."""
    return dataclasses.asdict(remark)

"""Docstrings: the documented public things of a Python file, read with `ast` and never imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SHORT = 100


@dataclass(frozen=True, slots=True)
class Documented:
    """A module, class, function, method or setting with its docstring.

    `arguments` has the text of each parameter (or field) as written in the signature; `notes` has what is said
    about one of them beside the docstring, as `Annotated[…, Doc("…")]` or a field's description.
    """

    name: str
    kind: str
    doc: str
    arguments: dict[str, str] = field(default_factory=dict[str, str])
    notes: dict[str, str] = field(default_factory=dict[str, str])


def documented(source: str, module: str) -> Iterator[Documented]:
    """What is documented in a source text, outermost first.

    Raises:
        SyntaxError: the text is not Python.
        ValueError: it has a NUL in it.
    """
    tree = ast.parse(source)
    if doc := ast.get_docstring(tree):
        yield Documented(module, "module", doc)
    yield from _members(tree.body, module)


def _members(body: list[ast.stmt], owner: str, in_class: bool = False) -> Iterator[Documented]:
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(statement, ast.ClassDef):
            if not statement.name.startswith("_"):
                yield from _class(statement, owner)
        elif isinstance(statement, _Function):
            if not statement.name.startswith("_") or (in_class and statement.name in ("__call__",)):
                yield from _function(statement, owner, in_class)
        elif isinstance(statement, ast.If | ast.Try):
            yield from _members([*statement.body, *statement.orelse], owner, in_class)
        else:
            yield from _setting(statement, following, owner)


def _class(node: ast.ClassDef, owner: str) -> Iterator[Documented]:
    name = f"{owner}.{node.name}"
    maker = next((item for item in node.body if isinstance(item, _Function) and item.name == "__init__"), None)
    arguments, notes = _fields(node) if maker is None else _arguments(maker)
    docs = [ast.get_docstring(node), ast.get_docstring(maker) if maker else None]
    if text := "\n\n".join(doc for doc in docs if doc) or _undocumented(node, arguments, notes):
        yield Documented(name, "class", text, arguments, notes)
    yield from _members(node.body, name, in_class=True)


def _function(node: _Function, owner: str, in_class: bool) -> Iterator[Documented]:
    arguments, notes = _arguments(node)
    doc = ast.get_docstring(node) or _undocumented(node, {} if in_class else arguments, notes)
    decorators = {ast.unparse(item).split("(")[0].split(".")[-1] for item in node.decorator_list}
    is_property = bool(decorators & {"property", "cached_property", "hybrid_property"})
    if doc:
        kind = "attribute" if is_property else "method" if in_class else "function"
        yield Documented(f"{owner}.{node.name}", kind, doc, arguments, notes)


def _setting(statement: ast.stmt, following: ast.stmt | None, owner: str) -> Iterator[Documented]:
    """A name that is given a value and has a string beneath it."""
    target: ast.expr
    note: ast.expr | None = None
    if isinstance(statement, ast.AnnAssign):
        target, note = statement.target, statement.annotation
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    else:
        return
    if not isinstance(target, ast.Name) or target.id.startswith("_"):
        return
    text = ""
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        text = following.value.value if isinstance(following.value.value, str) else ""
    text = text.strip() or _default(target.id, statement)
    if text:
        shown = _shown(target.id, note, statement.value)
        yield Documented(f"{owner}.{target.id}", "attribute", text, {target.id: shown})


def _undocumented(node: ast.ClassDef | _Function, arguments: Mapping[str, str], notes: Mapping[str, str]) -> str:
    """What has no docstring is still told by its name, where its signature has defaults or notes."""
    return node.name if notes or any(" = " in shown for shown in arguments.values()) else ""


def _default(name: str, statement: ast.stmt) -> str:
    """A constant that signatures name as a default says what it is by its value."""
    text = ast.unparse(statement) if "DEFAULT" in name.split("_") else ""
    return text if len(text) <= _SHORT else ""


def _fields(node: ast.ClassDef) -> tuple[dict[str, str], dict[str, str]]:
    arguments: dict[str, str] = {}
    notes: dict[str, str] = {}
    for item in node.body:
        if (
            isinstance(item, ast.AnnAssign)
            and isinstance(item.target, ast.Name)
            and not item.target.id.startswith("_")
        ):
            arguments[item.target.id] = _shown(item.target.id, item.annotation, item.value)
            if said := _described(item.value) or _doc(item.annotation):
                notes[item.target.id] = said
    return arguments, notes


def _arguments(node: _Function) -> tuple[dict[str, str], dict[str, str]]:
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [*([None] * (len(plain) - len(given.defaults))), *given.defaults]
    pairs = [*zip(plain, defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    shown = {
        arg.arg: _shown(arg.arg, arg.annotation, value) for arg, value in pairs if arg.arg not in ("self", "cls")
    }
    notes = {arg.arg: said for arg, _ in pairs if (said := _doc(arg.annotation))}
    return shown, notes


def _shown(name: str, annotation: ast.expr | None, value: ast.expr | None) -> str:
    text = name
    if annotation is not None:
        written = ast.unparse(_plain(annotation))
        text += f": {written}" if len(written) <= 60 else ""
    if value is not None:
        written = ast.unparse(_first(value))
        text += f" = {written}" if len(written) <= 60 else ""
    return text


def _plain(annotation: ast.expr) -> ast.expr:
    """`Annotated[X, …]` is X to a reader."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value).endswith("Annotated"):
        if isinstance(annotation.slice, ast.Tuple):
            return annotation.slice.elts[0]
    return annotation


def _first(value: ast.expr) -> ast.expr:
    """The default inside `Field(default, …)`, `Default(…)` and their like, or the value itself."""
    if isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[-1] in (
        "Field",
        "Default",
        "field",
    ):
        named = next((word.value for word in value.keywords if word.arg == "default"), None)
        return named or (value.args[0] if value.args else value)
    return value


def _doc(annotation: ast.expr | None) -> str:
    """The text of `Doc("…")` or `Field(description="…")` inside an annotation."""
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
        for part in annotation.slice.elts[1:]:
            if isinstance(part, ast.Call):
                name = ast.unparse(part.func).split(".")[-1]
                if name == "Doc" and part.args and (text := _string(part.args[0])):
                    return text
                if text := _described(part):
                    return text
    return ""


def _described(value: ast.expr | None) -> str:
    if isinstance(value, ast.Call):
        for word in value.keywords:
            if word.arg in ("description", "help", "doc"):
                return _string(word.value)
    return ""


def _string(value: ast.expr) -> str:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""

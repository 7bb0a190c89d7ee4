"""Server: an MCP server, spoken to on its standard streams, that reads the source of Python modules.

Nothing is imported and nothing is changed. Started with folders it reads beneath these alone, else where Python
looks for modules.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

ROOTS = [Path(place) for place in sys.argv[1:] or sys.path if Path(place).is_dir()]
READS = ToolAnnotations(read_only_hint=True)
_MODULES, _PLACES, _LINES, _LARGEST = 300, 40, 200, 1_000_000
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

server = MCPServer("sources", log_level="ERROR")


@server.tool(annotations=READS)
def modules(package: str) -> str:
    """List the modules of a package, each with the number of its lines. `package` is the name that is imported."""
    lines = [f"{name} ({len(text.splitlines())} lines)" for name, text in _texts(package)]
    left = len(lines) - _MODULES
    return "\n".join([*lines[:_MODULES], *([f"and {left} more"] if left > 0 else [])])


@server.tool(annotations=READS)
def outline(module: str) -> str:
    """List the classes and functions of a module, with the lines that each stands in."""
    found = list(_outlined(ast.parse(_read(_file(module))), ""))
    return "\n".join(found) or f"{module} defines no class and no function."


@server.tool(annotations=READS)
def find_in_source(package: str, text: str) -> str:
    """Find lines with a text in the source of a package, as `module:line: the line`. It is no pattern."""
    wanted = text.strip()
    if not wanted:
        raise ToolError("text is empty: say what to look for")
    found = [
        f"{name}:{number}: {line.strip()[:200]}"
        for name, source in _texts(package)
        for number, line in enumerate(source.splitlines(), 1)
        if wanted in line
    ]
    left = len(found) - _PLACES
    return "\n".join([*found[:_PLACES], *([f"and {left} more"] if left > 0 else [])]) or "It stands nowhere."


@server.tool(annotations=READS)
def read_source(name: str, start: int = 1, lines: int = 60) -> str:
    """Read source, with line numbers.

    `name` is a module, or a class, function or method in one, such as `json.decoder.JSONDecoder.decode`; `start`
    is a line of a module; at most 200 `lines` come back.
    """
    module, node = _resolved(name)
    source = _read(_file(module)).splitlines()
    first, last = (max(start, 1), len(source)) if node is None else _span(node)
    shown = source[first - 1 : min(last, first + min(max(lines, 1), _LINES) - 1)]
    if not shown:
        raise ToolError(f"{module} has {len(source)} lines: there is no line {start}")
    head = f"{module}, lines {first} to {first + len(shown) - 1} of {len(source)}"
    return "\n".join([head, *(f"{number:5}  {line}" for number, line in enumerate(shown, first))])


def _file(module: str) -> Path:
    parts = module.split(".")
    if all(part.isidentifier() for part in parts):
        for root in ROOTS:
            place = root.joinpath(*parts)
            for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
                if file.is_file():
                    return file
    raise ToolError(f"there is no module {module!r} in Python here: name it as it is imported")


def _read(file: Path) -> str:
    return file.read_text("utf-8") if file.stat().st_size <= _LARGEST else ""


def _texts(package: str) -> Iterator[tuple[str, str]]:
    """Yield each module of a package with its text."""
    file = _file(package)
    if file.name != "__init__.py":
        yield package, _read(file)
        return
    for each in sorted(file.parent.rglob("*.py")):
        parts = [package, *each.relative_to(file.parent).with_suffix("").parts]
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        try:
            yield name, _read(each)
        except (OSError, ValueError):
            continue  # a template, or a file in another encoding


def _outlined(parent: ast.AST, indent: str) -> Iterator[str]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, _Definition):
            first, last = _span(node)
            kind = "class" if isinstance(node, ast.ClassDef) else "def"
            said = (ast.get_docstring(node) or "").partition("\n")[0]
            yield f"{indent}{first}-{last} {kind} {node.name}" + (f": {said}" if said else "")
            if isinstance(node, ast.ClassDef):
                yield from _outlined(node, f"{indent}  ")


def _resolved(name: str, hops: int = 6) -> tuple[str, _Definition | None]:
    """Return the module and the definition that a name means, followed through imports from other modules."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        module, inside = ".".join(parts[:size]), parts[size:]
        try:
            file = _file(module)
        except ToolError:
            continue
        if not inside:
            return module, None
        tree = ast.parse(_read(file))
        if (node := _definition(tree, inside)) is not None:
            return module, node
        if hops and (origin := _origin(tree, module, file, inside[0])):
            return _resolved(".".join([origin, *inside[1:]]), hops - 1)
        raise ToolError(f"{module} defines no {'.'.join(inside)}: look at its outline")
    raise ToolError(f"there is no module in {name!r}: name it as it is imported")


def _definition(tree: ast.AST, names: list[str]) -> _Definition | None:
    found: ast.AST = tree
    for name in names:
        inner = [node for node in ast.walk(found) if isinstance(node, _Definition) and node.name == name]
        if not inner:
            return None
        found = inner[-1]  # the last one counts: those before it are overloads
    return found if isinstance(found, _Definition) else None


def _origin(tree: ast.Module, module: str, file: Path, name: str) -> str:
    """Return the full name of what a module imports under a name, '' if it imports no such thing."""
    around = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    stars: list[str] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        before = around[: len(around) - node.level + 1] if node.level else []
        source = ".".join([*before, *([node.module] if node.module else [])])
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                return f"{source}.{alias.name}"
        stars += [source] if node.names[0].name == "*" else []
    return next((f"{star}.{name}" for star in stars if _has(star, name)), "")


def _has(module: str, name: str) -> bool:
    try:
        return _definition(ast.parse(_read(_file(module))), [name]) is not None
    except ToolError:
        return False


def _span(node: _Definition) -> tuple[int, int]:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return first, node.end_lineno or node.lineno


if __name__ == "__main__":
    server.run("stdio")

"""The target: what a person names on the command line, found and loaded."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ..app import App
from ..errors import FlowError, TargetError
from ..flow import Flow
from ..render import shown
from .words import a, error_words

__all__ = ["Target", "load_target"]

AnyFlow = Flow[Any, Any, Any]
AnyApp = App[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """What was found: the flows, and the app if it was one. `text` is what the person typed.

    `module` and `name` say where it stands in code.
    """

    text: str
    flows: tuple[AnyFlow, ...]
    app: AnyApp | None
    module: str = ""
    name: str = ""

    def app_to_run(self) -> AnyApp:
        """Return the app. Raises `TargetError` if it was a flow: what is typed must become a state."""
        if self.app is None:
            raise TargetError(
                f"{self.text}: this is a flow, and a run needs an app, which makes its state of a text: write"
                " app = App(flows=[...], state=...) beside it"
            )
        return self.app


def load_target(text: str) -> Target:
    """Load `module:name`, `path/to/file.py[:name]`, or a folder with an `app.py`.

    Raises:
        TargetError: Nothing is there, it cannot be imported, or it is neither a flow nor an app.
        FlowError: A flow in the module is declared wrongly.
    """
    if not text.strip():
        raise TargetError("TARGET is empty; name a flow or an app, as in flows.py:name")
    try:
        module, name = _load(text)
    except OSError as error:  # so long, or so odd, that there can be no such file
        raise TargetError(f"{shown(text)}: cannot be looked for: {error.strerror}; name another place") from error
    value = _named(module, name, text) if name else _only(module, text)
    place = module.__name__, name or next(key for key, found in vars(module).items() if found is value)
    if isinstance(value, App):
        return Target(text, tuple(value.flows), value, *place)
    return Target(text, (value,), None, *place)


def _load(text: str) -> tuple[ModuleType, str]:
    if Path(text).is_dir():
        file = Path(text, "app.py")
        if not file.is_file():
            raise TargetError(f"{text}: there is no app.py in this folder; name a file, as in {text}/flows.py")
        return _load_file(file, text), ""
    if text.endswith(".py"):
        return _load_file(Path(text), text), ""
    place, colon, name = text.rpartition(":")
    if place.endswith(".py"):
        return _load_file(Path(place), text), name
    module = place if colon else text
    if not all(part.isidentifier() for part in module.split(".")):
        raise TargetError(f"{text}: there is no such file or folder, and {module!r} names no module")
    return _load_module(module, text), name if colon else ""


def _load_file(file: Path, text: str) -> ModuleType:
    if not file.is_file():
        raise TargetError(f"{text}: there is no file {file}; paths start in {Path.cwd()}")
    file = file.resolve()
    parts = [file.stem]
    root = file.parent
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    _make_importable(root)
    if len(parts) > 1:
        return _load_module(".".join(parts), text)
    return _load_lone_file(file, text)


def _load_lone_file(file: Path, text: str) -> ModuleType:
    name = file.stem
    while name in sys.modules:  # a file may be called like a module that it has nothing to do with
        name = f"{name}_"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where annotations look for their names
    with _importing(text):
        spec.loader.exec_module(module)
    return module


def _load_module(name: str, text: str) -> ModuleType:
    _make_importable(Path.cwd())
    with _importing(text):
        return importlib.import_module(name)


def _make_importable(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


@contextmanager
def _importing(text: str) -> Generator[None]:
    try:
        yield
    except (FlowError, TargetError):
        raise
    except ModuleNotFoundError as error:
        raise TargetError(
            f"{text}: cannot be imported: {error_words(error)}; install the module,"
            f" or start in the folder that holds it (now {os.getcwd()})"
        ) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a module does while it is imported
        raise TargetError(f"{text}: cannot be imported: {error_words(error)}; mend that line first") from error


def _named(module: ModuleType, name: str, text: str) -> AnyFlow | AnyApp:
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise TargetError(f"{text}: there is no {name!r} in it; {_offer(module)}")
        value = getattr(value, part)
    if isinstance(value, Flow | App):
        return value
    made = " Call it, and give the flow that it makes a name." if callable(value) else ""
    raise TargetError(f"{text}: this is {a(type(value).__name__)}, no flow and no app; {_offer(module)}.{made}")


def _only(module: ModuleType, text: str) -> AnyFlow | AnyApp:
    found = _flows_and_apps(module)
    if isinstance(app := found.get("app"), App):
        return app
    apps = [value for value in found.values() if isinstance(value, App)]
    sole = {id(value): value for value in apps or found.values()}
    if len(sole) == 1:
        return next(iter(sole.values()))
    if not found:
        raise TargetError(f"{text}: {_offer(module)}; make one in it, or name another place")
    raise TargetError(f"{text}: name what you mean after a colon, as in {text}:{min(found)}; {_offer(module)}")


def _offer(module: ModuleType) -> str:
    names = sorted(_flows_and_apps(module))
    return f"flows and apps there: {', '.join(names)}" if names else "there is no flow and no app there"


def _flows_and_apps(module: ModuleType) -> dict[str, AnyFlow | AnyApp]:
    return {name: value for name, value in vars(module).items() if isinstance(value, Flow | App)}

"""The side: one of two things to compare, a flow or a run, wherever it is to be found."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import RecordingError, TargetError
from ..recording import FlowData, Recording, flow_data
from .commit import Place, checked_out, split_ref
from .elsewhere import flow_from
from .flow_file import is_flow_file, read_flow_file
from .recorded import is_trace_file, recorded_run
from .target import load_target

__all__ = ["Side", "load_side"]

Side = FlowData | Recording


def load_side(text: str, *, apart: bool) -> Side:
    """Load a target, a file of a flow or of runs, or one of these at a git ref: `REF:place`.

    Args:
        text: What the person typed.
        apart: Load a target in a process of its own, so that the other side may have modules of the same names.

    Raises:
        TargetError: It is not to be found, or cannot be loaded.
        RecordingError: A trace file cannot be read.
        FlowError: A flow is declared wrongly.
    """
    found = split_ref(text)
    if found is not None:
        return _at_ref(*found, text)
    if is_trace_file(text):
        return _in_file(text, text)
    if apart and text.strip():
        return flow_from(Path.cwd(), text, "")
    return flow_data(load_target(text).flows[0].plan)


def _in_file(name: str, place: str) -> Side:
    path = Path(name)
    return read_flow_file(path, place) if is_flow_file(path) else recorded_run(name)


def _at_ref(ref: str, rest: str, text: str) -> Side:
    with checked_out(ref, text) as place:
        _check_inside(place, rest, ref, text)
        if is_trace_file(rest):
            try:
                return _in_file(str(place.here / rest), text)
            except (TargetError, RecordingError) as error:
                raise type(error)(str(error).replace(f"{place.here}{os.sep}", f"{ref}:")) from error
        return flow_from(_folder_of(rest, place, ref, text), rest, f"{ref}:")


def _check_inside(place: Place, rest: str, ref: str, text: str) -> None:
    """Raise `TargetError` for a path that leads to what is there today: it would be taken for what was there."""
    name = rest.partition("#" if is_trace_file(rest) else ":")[0]
    if not Path(os.path.realpath(place.here / name)).is_relative_to(os.path.realpath(place.root)):
        raise TargetError(f"{text}: {name} leads out of what {ref} holds; start it in the current folder")


def _folder_of(rest: str, place: Place, ref: str, text: str) -> Path:
    """Return where a target of a commit is to be loaded. What is not there must not be found among today's."""
    name = rest.partition(":")[0]
    if (place.here / name).exists():
        return place.here
    if name.endswith(".py") or "/" in name:
        raise TargetError(f"{text}: there is no {name} at {ref}; paths start in the current folder")
    parts = Path(*name.split("."))
    for folder in (place.here, place.here / "src", place.root, place.root / "src"):
        if (folder / parts).is_dir() or (folder / parts).with_suffix(".py").is_file():
            return folder
    raise TargetError(f"{text}: there is no module {name} at {ref}; name its file, as in {ref}:path/to/file.py")

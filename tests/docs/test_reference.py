"""The pages of the reference are complete, and say of each thing what the code says."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import flowcore
from flowcore import errors, events

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
COMMON = {field.name for field in dataclasses.fields(events.Event)}


def rows(page: str) -> list[list[str]]:
    """Returns the cells of each table row whose first cell is a name in backticks."""
    lines = (REFERENCE / page).read_text("utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_page_of_the_api_has_every_name_of_the_front_door_once() -> None:
    listed = [name for row in rows("api.md") for name in names(row[0]) if not name.startswith("flowcore.")]
    assert sorted(listed) == sorted(flowcore.__all__)
    assert all(row[1].endswith(".") for row in rows("api.md"))


def test_the_page_of_the_errors_has_each_error_with_its_code() -> None:
    classes = [getattr(errors, name) for name in errors.__all__]
    raised = {kind.__name__: kind.code for kind in classes if issubclass(kind, errors.FlowcoreError)}
    assert {names(row[0])[0]: names(row[1])[0] for row in rows("errors.md")} == raised


def test_the_tree_of_the_errors_is_that_of_the_classes() -> None:
    tree = re.findall(r"^```text\n(.*?)^```$", (REFERENCE / "errors.md").read_text("utf-8"), re.M | re.S)[0]
    root, *branches = tree.splitlines()
    assert root == "FlowcoreError"
    drawn, above = {}, ["FlowcoreError"]
    for branch in branches:
        found = re.fullmatch(r"((?:│   )*)[├└]── (\w+)(?: \(also an? (\w+)\))?", branch)
        assert found is not None, branch
        depth = len(found[1]) // 4
        above[depth + 1 :] = [found[2]]
        drawn[found[2]] = [above[depth], *filter(None, [found[3]])]
    assert drawn == {
        kind.__name__: [base.__name__ for base in kind.__bases__]
        for kind in (getattr(errors, name) for name in errors.__all__)
        if issubclass(kind, errors.FlowcoreError) and kind is not errors.FlowcoreError
    }


def test_the_page_of_the_events_has_each_kind_with_its_class_and_fields() -> None:
    kinds = [row for row in rows("events.md") if len(row) == 4]
    assert {names(row[0])[0]: (names(row[1]), names(row[2])) for row in kinds} == {
        kind.kind: (
            [kind.__name__],
            [field.name for field in dataclasses.fields(kind) if field.name not in COMMON],
        )
        for kind in (getattr(events, name) for name in events.__all__)
        if isinstance(kind, type) and issubclass(kind, events.Event) and kind is not events.Event
    }


def test_the_page_of_the_events_has_the_fields_of_all() -> None:
    shown = {names(row[0])[0] for row in rows("events.md") if len(row) == 2}
    assert shown == COMMON | {"kind"}

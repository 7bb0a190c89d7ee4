"""The drawing of two runs: their flow, with the ways that both took or one alone."""

from __future__ import annotations

from dataclasses import replace

from ..recording import Recording
from ..render import Drawing, Mark, draw
from ..render.marks import Ways, run_marks
from .run_change import RunDiff

__all__ = ["run_drawing"]


def run_drawing(diff: RunDiff) -> Drawing:
    """Return the drawing of the flow of two runs, marked as the new run went.

    Ways that it alone took are `added`, and what the old run alone did is `other`. Both must be of one flow.
    """
    drawing = draw(diff.new.flow)
    marks = run_marks(diff.new, drawing, other=diff.old)
    ways = Ways(drawing)
    before, now = _visited(diff.old, ways), _visited(diff.new, ways)
    marks |= {id: Mark("other", "the old run only") for id in before - now}
    for id in now - before:
        came = marks[id]
        words = f"{came.note}, the new run only"
        marks[id] = Mark("added", "the new run only") if came.kind == "taken" else replace(came, note=words)
    return replace(drawing, marks=marks)


def _visited(run: Recording, ways: Ways) -> set[str]:
    """Return the ids of what a run visited, and of the ways that it took."""
    visited = {ways.ids[visit.declared] for visit in run.visits if visit.declared in ways.ids}
    return visited.union(*map(ways.taken, run.visits))

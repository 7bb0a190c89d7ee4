"""The plot: what a visit costs against the length of the loop."""

from __future__ import annotations

import math
from html import escape
from typing import Any

__all__ = ["plot"]

_WIDTH, _HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 24, 48, 56
_COLOURS = ("#2563eb", "#c2410c")
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#444}.title{font-size:14px;font-weight:600}"
    "@media(prefers-color-scheme:dark){text{fill:#ccc}}"
)


def plot(measured: dict[str, Any]) -> str:
    """Return the picture, as SVG, of the loops in what the report gives as data."""
    loops = [one for one in measured["figures"] if one["group"] == "loop" and one["side"] == "ours"]
    lines = {
        title: [one for one in loops if one["title"] == title]
        for title in dict.fromkeys(o["title"] for o in loops)
    }
    top: int = 2 * math.ceil(max(one["cost"] for one in loops) / 2)
    low, high = [math.log10(pick(one["size"] for one in loops)) for pick in (min, max)]

    def x(size: float) -> float:
        return round(_LEFT + (math.log10(size) - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(cost: float) -> float:
        return round(_HEIGHT - _BOTTOM - cost / top * (_HEIGHT - _TOP - _BOTTOM), 1)

    parts = [_text(_LEFT, 20, "Cost of a visit against the length of the loop, µs of CPU time", "title")]
    for cost in range(0, top + 1, 2):
        parts.append(f'<path d="M{_LEFT} {y(cost)}H{_WIDTH - _RIGHT}" stroke="#8884"/>')
        parts.append(_text(_LEFT - 8, y(cost) + 4, str(cost), anchor="end"))
    sizes = sorted({one["size"] for one in loops})
    parts += [_text(x(size), _HEIGHT - _BOTTOM + 18, f"{size:,}", anchor="middle") for size in sizes]
    for (title, points), colour in zip(lines.items(), _COLOURS, strict=False):
        way = " ".join(f"{x(one['size'])},{y(one['cost'])}" for one in points)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x(one["size"])}" cy="{y(one["cost"])}" r="3.5" fill="{colour}"/>' for one in points
        ]
        place = 30 + 260 * list(lines).index(title)
        parts.append(f'<path d="M{_LEFT + place - 30} 34h20" stroke="{colour}" stroke-width="2"/>')
        parts.append(_text(_LEFT + place - 4, 38, title))
    parts.append(_text(_LEFT, _HEIGHT - 12, measured["machine"].partition("; flowcore")[0]))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"><style>{_STYLE}</style>'
    return "\n".join([head, *parts, "</svg>\n"])


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'

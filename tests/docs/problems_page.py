"""Writes docs/reference/problems.md from the table of problems: `python tests/docs/problems_page.py`."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from flowcore import FlowError
from flowcore.graph import PROBLEMS, ProblemKind

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "problems.md"
NAMES = ROOT / "tests" / "core" / "graph" / "problem_examples.py"


HEAD = """\
# Problems

This page is made from the table of problems: `python tests/docs/problems_page.py`.

`Flow(...)` raises one `FlowError` that lists everything that is wrong. Each `Problem` has a code, the place, a
message and a remedy; a program reads them from `error.problems`. There are no warnings: a thing is wrong or right.

{index}

The examples below share these names:

```python
{names}
```
"""
SECTION = """
## {code}

```python
{fault}
```

```text
{output}
```

Right:

```python
{mend}
```
"""


def page() -> str:
    """Returns the page, with the messages that the faults really raise."""
    index = " · ".join(f"[{code}](#{code})" for code in PROBLEMS)
    head = HEAD.format(index=wrapped(index), names=shown_names())
    return head + "".join(section(kind) for kind in PROBLEMS.values())


def shown_names() -> str:
    """Returns the file of the names without what it says to linters and tests."""
    _, _, rest = NAMES.read_text("utf-8").partition("from __future__ import annotations\n")
    shown, _, _ = rest.partition("\n\n\nNAMES")
    return re.sub(r"Any, | +# (noqa|type:).*", "", shown).strip()


def section(kind: ProblemKind) -> str:
    output = f"FlowError: {raised_by(kind)}"
    return SECTION.format(code=kind.code, fault=kind.fault, output=output, mend=kind.mend)


def raised_by(kind: ProblemKind) -> FlowError:
    try:
        eval(kind.fault, runpy.run_path(str(NAMES)))
    except FlowError as error:
        return error
    raise AssertionError(f"{kind.code}: {kind.fault} raises nothing")


def wrapped(index: str, width: int = 115) -> str:
    lines = [""]
    for link in index.split(" · "):
        joined = f"{lines[-1]} · {link}" if lines[-1] else link
        if len(joined) > width:
            lines[-1] += " ·"
            lines.append(link)
        else:
            lines[-1] = joined
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")

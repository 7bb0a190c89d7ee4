"""`flowcore runs export`: a stored run in the form of another tool."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from ...errors import ExportError
from ...export import chrome_trace, export_spans
from ...recording import Recording
from ..codes import OK
from ..files import write_file, write_out
from ..stored import load_run, recording_of_stored
from ..stores import with_store
from ..words import not_empty
from .options import add_run, add_source, named_store

__all__ = ["add_arguments", "execute"]

_STDOUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this action takes."""
    add_run(parser)
    add_source(parser)
    parser.add_argument(
        "--format",
        choices=["chrome", "otel"],
        default="chrome",
        help="chrome: for Perfetto and chrome://tracing (default); otel: the spans of OpenTelemetry as JSON",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=_STDOUT,
        type=not_empty,
        help="where to write (default: the terminal)",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Write the run."""
    store = named_store(arguments)
    run = recording_of_stored(with_store(store, lambda store: load_run(store, arguments.run)))
    content = chrome_trace(run) if arguments.format == "chrome" else _spans(run)
    if arguments.output == _STDOUT:
        write_out(content)
    else:
        write_file(Path(arguments.output), content)
    return OK


def _spans(run: Recording) -> str:
    """Return the spans of a run, one JSON object after the other, as the console exporter writes them."""
    try:
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - opentelemetry is an extra
        from opentelemetry.sdk.trace.export import (  # noqa: PLC0415 - opentelemetry is an extra
            ConsoleSpanExporter,
            SimpleSpanProcessor,
        )
    except ModuleNotFoundError as error:
        raise ExportError("spans as a file need opentelemetry-sdk: pip install opentelemetry-sdk") from error
    out = io.StringIO()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out)))
    export_spans(run, provider)
    provider.shutdown()
    return out.getvalue()

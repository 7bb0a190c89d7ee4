"""Handing a recorded run to other tools: to Perfetto and chrome://tracing, and to OpenTelemetry."""

from .chrome import chrome_trace
from .spans import export_spans

__all__ = ["chrome_trace", "export_spans"]

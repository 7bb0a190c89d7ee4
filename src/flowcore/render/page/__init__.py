"""The run page: one run as one file that needs nothing else. `data` says what a live page is sent."""

from .data import head_json, visit_json
from .page import run_page

__all__ = ["head_json", "run_page", "visit_json"]

"""What the tests of the core share: a browser, started only where a test looks at a page."""

from __future__ import annotations

from tests.web.chromium import browser

__all__ = ["browser"]

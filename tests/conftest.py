"""What the tests of the core share: a browser and a server of models, started only where a test wants them."""

from __future__ import annotations

from tests.servers.katan import katan
from tests.web.chromium import browser

__all__ = ["browser", "katan"]

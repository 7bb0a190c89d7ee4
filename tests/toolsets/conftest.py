"""What the tests of the toolsets share."""

from __future__ import annotations

from tests.servers.mcp import mcp_proxy
from tests.servers.postgres import postgres
from tests.toolsets.api import items_api

__all__ = ["items_api", "mcp_proxy", "postgres"]

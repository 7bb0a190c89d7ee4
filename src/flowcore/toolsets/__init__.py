"""Toolsets: the tools of MCP servers, of HTTP APIs and of databases; search in knowledge and in the web.

The libraries that they stand on are loaded when a toolset is made or opened, and not before.
"""

from .knowledge import FoundPassage, Knowledge, PassageText, knowledge_search
from .mcp import MCPToolset
from .openapi import OpenAPIToolset
from .openapi_reply import HTTPReply
from .sql import SQLToolset
from .web import WebResult, WebSearch, web_search

__all__ = [
    "FoundPassage",
    "HTTPReply",
    "Knowledge",
    "MCPToolset",
    "OpenAPIToolset",
    "PassageText",
    "SQLToolset",
    "WebResult",
    "WebSearch",
    "knowledge_search",
    "web_search",
]

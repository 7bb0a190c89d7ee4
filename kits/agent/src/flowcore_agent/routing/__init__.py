"""Routing: how a request is worked on, with which tools, by what plan, and whether its answer is looked at."""

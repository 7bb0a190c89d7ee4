"""An agent that works on the installed Python packages with real tools."""

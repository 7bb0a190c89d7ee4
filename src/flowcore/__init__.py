"""flowcore: agent workflows as typed node graphs."""

"""The guardrails: what looks at what comes in and at what goes out."""

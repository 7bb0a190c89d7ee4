"""The context: what is loaded for a request, and the system prompt and the messages that are made of it."""

"""The Presentation Kit."""

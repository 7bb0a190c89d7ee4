"""The Knowledge Kit."""

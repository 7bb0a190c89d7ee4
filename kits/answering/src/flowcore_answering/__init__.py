"""The Answering Kit."""

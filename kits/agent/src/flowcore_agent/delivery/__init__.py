"""The delivery: the answer is cleaned, kept, sent once, and handed to the caller."""

"""The Presentation Kit: shows answers with numbered citations as text, Markdown and HTML."""

from flowcore_presentation.html import to_html
from flowcore_presentation.markdown import to_markdown
from flowcore_presentation.result import PresentableAnswer, PresentableCitation, PresentableResult
from flowcore_presentation.text import to_text
from flowcore_presentation.words import Words

__all__ = [
    "PresentableAnswer",
    "PresentableCitation",
    "PresentableResult",
    "Words",
    "to_html",
    "to_markdown",
    "to_text",
]

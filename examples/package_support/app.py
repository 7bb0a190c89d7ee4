"""App: answers questions about the Python packages that are installed here, in their own words.

flowcore run examples/package_support "How long do idle connections stay open in httpx?"
flowcore run examples/package_support --questions questions.jsonl --out answers
"""

from __future__ import annotations

from functools import cache
from typing import Any

from flowcore import App
from flowcore_presentation import Words, to_text

from .flow import support_flow
from .library import Library, open_library
from .state import Asked, Reply

_WORDS = Words(answered="Quoted from the installed texts", fallback="No answer", blocked="Not answered")


@cache
def library() -> Library:
    """The library of this environment, opened once."""
    return open_library()


def asked(text: str) -> Asked:
    """What a person typed is the question."""
    return Asked(question=text)


def shown(reply: Reply) -> str:
    """The answers as text, with numbered citations."""
    return to_text(reply.result, questions=reply.questions, words=_WORDS)


def line(id: str, reply: Reply) -> dict[str, Any]:
    """The answers as a line for programs."""
    answers = [
        {
            "text": answer.text or answer.reason,
            "citations": [{"package": cited.source, "where": cited.where} for cited in answer.citations],
            "status": answer.status,
        }
        for answer in reply.result.items
    ]
    return {"id": id, "answers": answers}


app = App(flows=[support_flow(library)], state=asked, deps=library, present=shown, line=line)

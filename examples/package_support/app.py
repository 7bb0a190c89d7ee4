"""App: answers questions about the Python packages that are installed here, in their own words.

flowcore run examples/package_support "How long do idle connections stay open in httpx?"
flowcore run examples/package_support --questions questions.jsonl --out answers

It quotes. With `--model NAME --base-url URL` a model writes the answers, from the same texts.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, Literal

from pydantic import Field

from flowcore import App, Budget
from flowcore.models import ChatModel, ModelRunner
from flowcore_presentation import Words, to_text

from .flow import support_flow
from .generator import Quoting
from .library import Library, open_library
from .state import Asked, Reply
from .writer import written

KEY = "PACKAGE_SUPPORT_API_KEY"
_BUDGET = Budget(requests=8, seconds=600)
_PATIENCE = 300.0
"""Seconds that a model may think about one request: a small machine takes its time."""
_QUOTED = Words(answered="Quoted from the installed texts", fallback="No answer", blocked="Not answered")


@cache
def library() -> Library:
    """The library of this environment, opened once."""
    return open_library()


def asked(text: str) -> Asked:
    """What a person typed is the question."""
    return Asked(question=text)


def shown(reply: Reply, words: Words = _QUOTED) -> str:
    """The answers as text, with numbered citations."""
    return to_text(reply.result, questions=reply.questions, words=words)


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


def explained(reply: Reply, words: Words) -> str:
    """The answers as text, and why the model has not written all of them."""
    reasons = dict.fromkeys(answer.reason for answer in reply.result.items if answer.status == "fallback")
    return "\n".join([shown(reply, words), *(f"\nNot written by the model: {reason}." for reason in reasons)])


@dataclass(frozen=True, slots=True)
class Options:
    """What may be chosen on the command line."""

    model: Annotated[str, Field(description="the model that writes the answers", min_length=1)]
    base_url: Annotated[str, Field(description="where its OpenAI-compatible API is")] = "https://api.openai.com/v1"
    schema_as: Annotated[
        Literal["json_schema", "json_object"], Field(description="how its API takes the schema of an answer")
    ] = "json_schema"
    evidence: Annotated[int, Field(description="characters of evidence for each question", ge=200)] = 6_000


def with_model(options: Options) -> App[Asked, object, Reply]:
    """The app with a model that writes the answers. Its API key is read from the environment, if there is one."""
    key = os.environ.get(KEY) or None
    model = ChatModel(
        options.model, base_url=options.base_url, api_key=key, timeout=_PATIENCE, schema_as=options.schema_as
    )
    runner = ModelRunner(model, timeout=_PATIENCE)
    words = Words(
        answered=f"Written by {options.model} from the installed texts",
        fallback="From the installed texts, without the model",
        blocked="Not answered",
    )
    flow = support_flow(library, written(Quoting(library), runner, options.evidence))
    return App(
        flows=[flow], state=asked, deps=library, budget=_BUDGET, present=partial(explained, words=words), line=line
    )


app = App(
    flows=[support_flow(library)],
    state=asked,
    deps=library,
    present=shown,
    line=line,
    options=with_model,
)

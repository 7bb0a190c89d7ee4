"""A complete service that answers from rules, without network, model or kit: the desk of a lending library.

Ask it in either way:

    python examples/offline_service.py "What does it cost to bring a book back 12 days late?"
    flowcore run examples/offline_service.py "When are you open on Saturday?"
"""

from __future__ import annotations

import re
import sys
from typing import Literal

from pydantic import BaseModel

from flowcore import App, Budget, Complete, Continue, Flow, Step, node

HOURS = {
    **dict.fromkeys(["monday", "tuesday", "wednesday", "thursday"], "from 9 to 18"),
    "friday": "from 9 to 20",
    "saturday": "from 10 to 14",
}
LOANS = {"book": 28, "magazine": 7, "film": 14}
CENTS_A_DAY, MOST_CENTS = 20, 500
BUDGET = Budget(rounds=1, seconds=5)


class Enquiry(BaseModel):
    """The state: what was asked, and what the rules say to it."""

    question: str
    words: tuple[str, ...] = ()
    reply: str = ""
    rule: str = ""


class Reply(BaseModel):
    """The result: a text and the rule it comes from; without a rule it is no answer."""

    text: str
    rule: str


@node
async def listen(step: Step[Enquiry]) -> Continue:
    """Take the words and numbers out of the question, in the singular."""
    found = re.findall(r"[a-z]+|\d+", step.state.question.lower())
    step.state.words = tuple(word.removesuffix("s") if len(word) > 3 else word for word in found)
    return Continue()


@node
async def choose(step: Step[Enquiry]) -> Continue[Literal["fee", "hours", "loan", "unclear"]]:
    """Find the one rule that the question is about."""
    words = set(step.state.words)
    about = {
        "fee": bool(words & {"late", "fee", "fine", "overdue"}),
        "hours": bool(words & {"open", "close", "hour", *HOURS, "sunday"}),
        "loan": bool(words & {"keep", "borrow", "loan", "long"}) and bool(words & set(LOANS)),
    }
    match [label for label, fits in about.items() if fits]:
        case ["fee"]:
            return Continue("fee", why=about)
        case ["hours"]:
            return Continue("hours", why=about)
        case ["loan"]:
            return Continue("loan", why=about)
        case _:
            return Continue("unclear", why=about)


@node
async def fee(step: Step[Enquiry]) -> Continue:
    """Reckon what a late return costs."""
    days = next((int(word) for word in step.state.words if word.isdecimal()), None)
    each = f"{CENTS_A_DAY} cents a day, {MOST_CENTS / 100:.2f} at most"
    if days is None:
        step.state.reply = f"A late return costs {each}."
    else:
        cost = min(days * CENTS_A_DAY, MOST_CENTS) / 100
        step.state.reply = f"{days} days late cost {cost:.2f}: {each}."
    step.state.rule = "late returns"
    return Continue()


@node
async def hours(step: Step[Enquiry]) -> Continue:
    """Say when the library is open, on one day or on all."""
    named = [day for day in [*HOURS, "sunday"] if day in step.state.words] or list(HOURS)
    lines = [f"{day.capitalize()}: {HOURS.get(day, 'closed')}." for day in named]
    step.state.reply, step.state.rule = "\n".join(lines), "opening hours"
    return Continue()


@node
async def loan(step: Step[Enquiry]) -> Continue:
    """Say how long a thing may be kept."""
    kinds = [kind for kind in LOANS if kind in step.state.words]
    step.state.reply = "\n".join(f"A {kind} may be kept for {LOANS[kind]} days." for kind in kinds)
    step.state.rule = "loans"
    return Continue()


@node
async def deliver(step: Step[Enquiry]) -> Complete[Reply]:
    """Give the answer with its rule."""
    return Complete(Reply(text=step.state.reply, rule=step.state.rule))


@node
async def hand_over(step: Step[Enquiry]) -> Complete[Reply]:
    """Leave what no rule settles to a person."""
    return Complete(Reply(text="No rule of ours settles this. Please ask at the desk.", rule=""))


desk = Flow(
    "desk",
    listen.to(choose),
    choose.to(fee=fee, hours=hours, loan=loan, unclear=hand_over),
    fee.to(deliver),
    hours.to(deliver),
    loan.to(deliver),
    deliver,
    hand_over,
    on_error=hand_over,
    description="Answers readers from the rules of the house.",
)

app = App(
    flows=[desk],
    state=lambda text: Enquiry(question=text),
    budget=BUDGET,
    present=lambda reply: f"{reply.text} [{reply.rule}]" if reply.rule else reply.text,
    line=lambda id, reply: {"id": id, **reply.model_dump()},
)


def main(arguments: list[str]) -> int:
    """Answer one question."""
    if len(arguments) != 1 or not arguments[0].strip():
        print('usage: python examples/offline_service.py "QUESTION"', file=sys.stderr)
        return 2
    print(app.present(desk.run_sync(Enquiry(question=arguments[0]), budget=BUDGET)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

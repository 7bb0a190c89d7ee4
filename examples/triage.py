"""The first flow: a reply is written, checked, and written again until it is good. Run me: no network, no key."""

from typing import Literal

from pydantic import BaseModel

from flowcore import Budget, Complete, Continue, Flow, Step, node

DRAFTS = ["Restart it.", "Hold the button for ten seconds, until the light blinks."]  # stands for a model


class Ticket(BaseModel):
    question: str
    draft: str = ""


@node
async def write(step: Step[Ticket]) -> Continue:
    step.state.draft = DRAFTS[step.visit - 1]
    return Continue()


@node
async def check(step: Step[Ticket]) -> Continue[Literal["good", "poor"]]:
    length = len(step.state.draft)
    return Continue("good" if length > 20 else "poor", why={"length": length})


@node
async def deliver(step: Step[Ticket]) -> Complete[str]:
    return Complete(step.state.draft)


triage = Flow("triage", write.to(check), check.to(good=deliver, poor=write), deliver)

if __name__ == "__main__":
    result = triage.run_sync(Ticket(question="My lamp stays dark."), budget=Budget(rounds=5), check=False)
    print(result.trace.to_text())

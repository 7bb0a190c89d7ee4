"""The reasons: for each conversation in which loops differ, why they do."""

from __future__ import annotations

__all__ = ["REASONS"]

REASONS = {
    "one id twice in a reply": (
        "flowcore gives the second call an id of its own, so that each has its result. The others raise "
        "before a tool has run."
    ),
    "one id in two turns": (
        "A result belongs to the reply before it, so the conversation is clear. The OpenAI Agents SDK wants "
        "an id once in a run."
    ),
    "a call without an id": (
        "flowcore gives it one, since some servers refuse a result without. pydantic-ai hands the empty id on "
        "to its model; the SDK raises."
    ),
    "a tool that is not there": (
        "The model is told which tools there are, in flowcore and pydantic-ai. The SDK raises."
    ),
    "one that is not there beside one that is": (
        "The SDK raises, and the tool that is there does not run either."
    ),
    "only ever tools that are not there": (
        "flowcore goes on to the last turn and asks once more without tools. pydantic-ai allows one more try, "
        "and then raises."
    ),
    "no arguments at all": (
        "The tool has no parameters, so it runs everywhere. flowcore sends nothing back that is no JSON object."
    ),
    "a comma too many": "flowcore mends what loses nothing; the others have the model write it again.",
    "single quotes": "As with a comma too many.",
    "arguments that are cut off": (
        "Nobody runs the tool. flowcore sends an object back that keeps the text, since some servers refuse "
        "broken JSON."
    ),
    "arguments that are a list": "As with those that are cut off.",
    "an argument is missing": (
        "Nobody runs the tool. flowcore and pydantic-ai say what is missing; the SDK says that there was an error."
    ),
    "an argument of another type": "As with one that is missing.",
    "an argument that nobody wants": (
        "The SDK runs the tool without it: its schema forbids it, and it relies on servers that heed schemas."
    ),
    "an empty answer": (
        "That a model says nothing is an ordinary reply of its own kind in flowcore. pydantic-ai asks again."
    ),
    "an empty answer after a call": "As with an empty answer.",
    "a tool that raises": (
        "flowcore tells the model what went wrong, the SDK that something did. pydantic-ai lets the error end "
        "the run."
    ),
    "one that raises beside one that does not": (
        "As with one alone. With pydantic-ai the result of the other is lost."
    ),
    "a tool that is late": "All stop it and tell the model, in their own words.",
    "a result of 100,000 characters": (
        "flowcore tells the model 20,000 characters of it, head and tail, and how much is left out."
    ),
    "a tool that returns nothing": "It reads `null`, an empty text, or `None`.",
    "rows as a result": "The SDK tells the model what Python's `str` makes of them; the others tell it JSON.",
    "letters of all kinds": "The same goes to the models. flowcore cleans the answer of what nobody can see.",
    "the turns are used up": (
        "flowcore tells the model in its last turn, runs no more tools, and asks once more without tools. The "
        "others run the last calls, and raise."
    ),
    "the same call for ever": (
        "From the third time on flowcore skips it and says so; after seven turns with one tool it would end "
        "the loop."
    ),
    "the model fails after words and a call": (
        "flowcore keeps what the model had said, marked as partial, with the error beside it."
    ),
}

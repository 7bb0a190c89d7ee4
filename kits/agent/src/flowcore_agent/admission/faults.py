"""The faults of a request: each code with what is to be done about it."""

from __future__ import annotations

from typing import Literal

from flowcore_agent.errors import AdmissionFault

__all__ = ["FAULT_CODES", "FaultCode", "fault"]

FaultCode = Literal[
    "no_messages",
    "bad_message",
    "no_user_message",
    "tool_message",
    "system_place",
    "assistant_first",
    "assistant_last",
    "same_role_twice",
    "assistant_calls",
    "system_message",
    "no_model",
    "unknown_core",
    "missing_variable",
    "prompt_file",
    "patch_refused",
]

_REMEDIES: dict[FaultCode, str] = {
    "no_messages": "Give a list of messages",
    "bad_message": "Give messages with a role (system, user, assistant) and a text",
    "no_user_message": "End with a message of the user",
    "tool_message": "Leave it out: results of tools come from the agent alone, earlier ones as history",
    "system_place": "Leave it out, or put it first, where there is none yet",
    "assistant_first": "Begin with a message of the user",
    "assistant_last": "End with a message of the user",
    "same_role_twice": "Let user and assistant take turns, or join the two messages",
    "assistant_calls": "Leave the calls out: earlier calls are given with their results, as history",
    "system_message": "Leave it out",
    "no_model": "Enable a model for this user and agent",
    "unknown_core": "Choose one of those that are offered",
    "missing_variable": "Give it a value in variables",
    "prompt_file": "Give the path of a text file in UTF-8",
    "patch_refused": "Leave the patch out, or name the template in patchable",
}

_APPLICATIONS: tuple[FaultCode, ...] = ("no_model", "prompt_file")
"""What no client can mend."""

FAULT_CODES: tuple[FaultCode, ...] = tuple(_REMEDIES)


def fault(code: FaultCode, where: str, message: str) -> AdmissionFault:
    """Return a fault with the remedy of its code."""
    return AdmissionFault(code, where, message, _REMEDIES[code], is_clients=code not in _APPLICATIONS)

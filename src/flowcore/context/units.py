"""The unit: messages that are kept or left out together, since a reply with calls needs their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..messages import Message
from ..tools.conversation import SHOWN

__all__ = ["History", "Unit", "flat", "read_history"]

Unit = tuple[Message, ...]
"""One message, or a reply with calls and the results of these calls. Never empty."""


@dataclass(frozen=True, slots=True)
class History:
    """A history in parts: the system messages in front, and the units that follow."""

    leading: Unit
    units: tuple[Unit, ...]

    def around(self, cut: int) -> tuple[tuple[Unit, ...], tuple[Unit, ...]]:
        """Return the units before a cut, and those to keep: all after it.

        The newest message of the user is kept wherever it stands: it is what is being worked on.
        """
        asked = max((place for place, unit in enumerate(self.units) if _asks(unit[0])), default=cut)
        before = tuple(unit for place, unit in enumerate(self.units[:cut]) if place != asked)
        pinned = (self.units[asked],) if asked < cut else ()
        return before, (*pinned, *self.units[cut:])


def _asks(message: Message) -> bool:
    return message.role == "user" and not (message.content == SHOWN and message.attachments)


def read_history(messages: Sequence[Message]) -> History:
    """Return messages as a history. A result that answers no call is a unit of its own."""
    start = next((place for place, message in enumerate(messages) if message.role != "system"), len(messages))
    units: list[list[Message]] = []
    wanted: set[str] = set()
    for message in messages[start:]:
        if message.role == "tool" and message.tool_call_id in wanted:
            units[-1].append(message)
        else:
            units.append([message])
            wanted = {call.id for call in message.tool_calls}
    return History(tuple(messages[:start]), tuple(map(tuple, units)))


def flat(*parts: Sequence[Unit]) -> list[Message]:
    """Return the messages of units, in their order."""
    return [message for units in parts for unit in units for message in unit]

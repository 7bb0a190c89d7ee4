"""The inquiry: whether a call with effects that was interrupted was done. A look, and then a person."""

from __future__ import annotations

import uuid
from datetime import timedelta
from functools import partial
from inspect import iscoroutinefunction
from typing import Any

from ..errors import ContractError
from ..requests import OpenRequest, read_verification
from .decide import Ready, Refused, is_cancellation, is_signal
from .dispatch import Dispatch, awaited
from .policy import Proposal
from .receipts import UNKNOWN, Ended, arguments_text
from .result import result_text

__all__ = ["Inquiry"]

_EXPIRES = 300.0
_BARRED = "the same call was interrupted before, and nobody knows whether it was done; first that must be clear"


class Inquiry:
    """Finds out about the interrupted calls of one visit."""

    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch

    async def settled(self, ready: Ready, ended: Ended, call_id: str) -> Ended:
        """Return what became of an interrupted call: what `verify`, tried once, or else a person says."""
        call, proposal, host = ready.call, ready.proposal, self._dispatch.inside
        if proposal.tool.verify is not None and (call is None or call.status in ("", "dispatched")):
            ended = await self._looked(proposal, ended)
        if ended.status != "unknown" or ended.is_signal or call is None or host is None or not host.host.keeps:
            return ended
        await call.keep("unknown")
        return await self._asked(ready, ended, call_id)

    async def barred(self, ready: Ready) -> Ready | Refused | Ended:
        """Return what is done with a call, if an equal one was interrupted and nobody knows what became of it."""
        call, proposal = ready.call, ready.proposal
        if call is None or not call.is_barred:
            return ready
        found = UNKNOWN if proposal.tool.verify is None else await self._looked(proposal, UNKNOWN)
        if found.is_signal and found.error is not None:
            raise found.error
        if found.status == "unknown":
            return Refused("denied", f"Denied: {_BARRED}.")
        await call.clear(
            "done" if found.status == "ok" else "failed", {"status": found.status, "text": found.text}
        )
        return found._replace(text=f"{found.text} It was not made again.") if found.status == "ok" else ready

    async def _looked(self, proposal: Proposal, ended: Ended) -> Ended:
        """Look once whether an interrupted call was done."""
        dispatch, scope = self._dispatch, self._dispatch.scope.beside()
        verify: Any = proposal.tool.verify
        look = partial(awaited, partial(dispatch.in_thread, verify, proposal.arguments, dispatch.path))
        if iscoroutinefunction(verify):
            look = partial(verify, proposal.arguments)
        errand = dispatch.errand(look, scope, f"{proposal.tool.name} verify")
        await errand.run(dispatch.seconds(proposal.tool), f"{proposal.tool.name} verify")
        error = errand.error
        if error is not None and not is_cancellation(error) and is_signal(error, dispatch.scope):
            return ended._replace(error=error, is_signal=True)
        if errand.value is True:
            return Ended("ok", "It was interrupted, and a look afterwards found that it was done.")
        if errand.value is False:
            said = "It was interrupted, and a look afterwards found that it was not done."
            return Ended("failed", said, error=ended.error)
        return ended

    async def _asked(self, ready: Ready, ended: Ended, call_id: str) -> Ended:
        """Ask a person what became of a call."""
        about, proposal, call = self._dispatch.inside, ready.proposal, ready.call
        assert about is not None  # only in runs somebody can be asked
        assert call is not None  # and there each call is logged
        host, where = about
        opened, tool = host.clock.utcnow(), proposal.tool
        request = OpenRequest(
            id=uuid.uuid4().hex,
            kind="verify",
            path=self._dispatch.path,
            question=f"{tool.name} was interrupted: was it done?",
            tool=tool.name,
            call_id=call_id,
            arguments=arguments_text(proposal.arguments),
            opened=opened,
            expires=opened + timedelta(seconds=_EXPIRES),
        )
        read = partial(read_verification, read_value=partial(_checked, proposal))
        answer = await host.wait(self._dispatch.scope, where, request, read, f"{call.key} verify")
        if answer.expired or answer.value.done is None:
            return ended
        said = "It was interrupted, and a person found that it was "
        reason = f" {answer.value.reason}" if answer.value.reason else ""
        if not answer.value.done:
            return Ended("failed", f"{said}not done.{reason}", error=ended.error)
        value = answer.value.value
        returned = "" if value is None else f" It returned: {result_text(value)}"
        return Ended("ok", f"{said}done.{reason}{returned}", value)


def _checked(proposal: Proposal, raw: object) -> object:
    """Return what a person says that the tool returned, as the tool promises it."""
    check = proposal.tool.check_output
    if raw is None or check is None:
        return raw
    try:
        return check(raw)
    except ValueError as error:
        raise ContractError(f"is answered with what {proposal.tool.name} returns: {error}") from None

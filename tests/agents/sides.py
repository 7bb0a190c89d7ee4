"""The sides: each loop that is compared, with what its model was sent and how its run ended, in one form."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tests.agents.scripts import Script
from tests.agents.shed import PATIENCE, Shed

from flowcore.messages import Message, ModelReply, ToolCall

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"  # else it sends what it did to its maker's server

from agents import Agent as OpenAIAgent
from agents import Model, ModelResponse, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import Tool, UsageLimits
from pydantic_ai import messages as pydantic
from pydantic_ai.models.function import AgentInfo, FunctionModel

from flowcore.models import ModelRunner
from flowcore.testing import ScriptedModel
from flowcore.tools import ToolCatalog
from flowcore_agent import AgentLimits, AgentRequest, AgentSpec, CustomPrompt, admit, agent_flow

__all__ = ["SIDES", "Told", "flowcore_agent", "openai_agents", "pydantic_ai"]

PROMPT, QUESTION = "Be brief.", "Go."


@dataclass
class Told:
    """What came of a conversation: the messages of each request, the tools shown, what they did, and the end."""

    requests: list[tuple[Message, ...]] = field(default_factory=list)
    tools: list[tuple[str, ...]] = field(default_factory=list)
    ran: list[tuple[Any, ...]] = field(default_factory=list)
    end: str = ""
    text: str = ""


async def flowcore_agent(script: Script) -> Told:
    """Put the loop of the Agent Kit through a conversation."""
    shed = Shed()
    model = ScriptedModel(script.lines, name="scripted")
    spec = AgentSpec(
        name="agent",
        model=ModelRunner(model, prices=lambda name, usage: 0.0),
        prompt=CustomPrompt(PROMPT),
        catalog=ToolCatalog(shed.tools(script.tools)),
        limits=AgentLimits(turns=script.turns, tool_timeout=PATIENCE if "late" in script.tools else 60),
    )
    request = AgentRequest((*_shown(script.before), Message("user", QUESTION)), history=_turns(script.before))
    result = await agent_flow(spec).run(admit(spec, request), check=False)
    told = Told(ran=shed.ran)
    for each in model.requests:
        told.requests.append(each.messages)
        told.tools.append(tuple(tool.name for tool in each.tools))
    reply = result.value
    if reply is None:
        told.end = f"raises {type(result.failure and result.failure.exception).__name__}"
    else:
        told.end = f"{reply.reason}{', partial' * reply.is_partial}"
        told.text = reply.text
    return told


def _shown(before: Sequence[Message]) -> list[Message]:
    """Return what a client has of an earlier turn: the question and the answer."""
    return [each for each in before if each.role == "user" or (each.role == "assistant" and not each.tool_calls)]


def _turns(before: Sequence[Message]) -> tuple[tuple[Message, ...], ...]:
    turn = tuple(each for each in before if each.role != "user")
    return (turn,) if turn else ()


async def pydantic_ai(script: Script) -> Told:
    """Put the loop of pydantic-ai through a conversation."""
    shed, told = Shed(), Told()
    lines = iter(script.lines)

    async def answer(messages: list[pydantic.ModelMessage], info: AgentInfo) -> pydantic.ModelResponse:
        told.requests.append((Message("system", info.instructions or ""), *_of_pydantic(messages)))
        told.tools.append(tuple(tool.name for tool in info.function_tools))
        return pydantic.ModelResponse(_to_pydantic(_next(lines)))

    seconds = PATIENCE if "late" in script.tools else None
    tools = [Tool(each, takes_ctx=False, timeout=seconds) for each in shed.tools(script.tools)]
    agent = PydanticAgent(FunctionModel(answer), instructions=PROMPT, tools=tools)
    history = [_history(message) for message in script.before]
    limits = UsageLimits(request_limit=script.turns)
    return await _ended(told, shed, partial(agent.run, QUESTION, message_history=history, usage_limits=limits))


def _to_pydantic(reply: ModelReply) -> list[Any]:
    words = [pydantic.TextPart(reply.text)] if reply.text else []
    return [*words, *(pydantic.ToolCallPart(call.name, call.arguments, call.id) for call in reply.tool_calls)]


def _history(message: Message) -> pydantic.ModelMessage:
    if message.role == "assistant":
        return pydantic.ModelResponse(_to_pydantic(ModelReply(message.content, tool_calls=message.tool_calls)))
    if message.role == "tool":
        return pydantic.ModelRequest([pydantic.ToolReturnPart("add", message.content, message.tool_call_id)])
    return pydantic.ModelRequest([pydantic.UserPromptPart(message.content)])


def _of_pydantic(messages: Sequence[pydantic.ModelMessage]) -> list[Message]:
    made: list[Message] = []
    for message in messages:
        if isinstance(message, pydantic.ModelResponse):
            calls = [ToolCall(each.tool_call_id, each.tool_name, _json(each.args)) for each in message.tool_calls]
            made.append(Message("assistant", message.text or "", tuple(calls)))
            continue
        for part in message.parts:
            if isinstance(part, pydantic.UserPromptPart):
                made.append(Message("user", str(part.content)))
            elif isinstance(part, pydantic.ToolReturnPart):
                made.append(Message("tool", part.model_response_str(), tool_call_id=part.tool_call_id))
            elif isinstance(part, pydantic.RetryPromptPart):
                role = "user" if part.tool_name is None else "tool"
                id = part.tool_call_id if role == "tool" else ""
                made.append(Message(role, part.model_response(), tool_call_id=id))  # type: ignore[arg-type]
            else:
                raise AssertionError(f"a part of another kind: {part}")
    return made


def _json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


async def openai_agents(script: Script) -> Told:
    """Put the loop of the OpenAI Agents SDK through a conversation."""
    shed, told = Shed(), Told()
    seconds = PATIENCE if "late" in script.tools else None
    tools = [function_tool(each, timeout=seconds) for each in shed.tools(script.tools)]
    agent = OpenAIAgent("agent", instructions=PROMPT, model=_Fake(script, told), tools=list(tools))
    asked: list[Any] = [item for message in script.before for item in _items(message)]
    asked.append({"role": "user", "content": QUESTION})
    return await _ended(told, shed, partial(Runner.run, agent, asked, max_turns=script.turns))


class _Fake(Model):
    """A model of the OpenAI Agents SDK that says what a script says."""

    def __init__(self, script: Script, told: Told) -> None:
        self._lines, self._told = iter(script.lines), told

    async def get_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *more: Any, **about: Any
    ) -> ModelResponse:
        self._told.requests.append((Message("system", system_instructions), *_of_items(input)))
        self._told.tools.append(tuple(tool.name for tool in tools))
        return ModelResponse(output=_output(_next(self._lines)), usage=Usage(), response_id=None)

    def stream_response(self, *about: Any, **more: Any) -> Any:
        raise NotImplementedError


def _output(reply: ModelReply) -> list[Any]:
    calls = [
        ResponseFunctionToolCall(type="function_call", call_id=call.id, name=call.name, arguments=call.arguments)
        for call in reply.tool_calls
    ]
    if calls and not reply.text:
        return list(calls)
    words = ResponseOutputText(type="output_text", text=reply.text, annotations=[])
    said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[words])
    return [said, *calls]


def _items(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content}]
    words = [{"role": message.role, "content": message.content}] if message.content else []
    calls = [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.tool_calls
    ]
    return [*words, *calls]


def _of_items(items: Any) -> list[Message]:
    made: list[Message] = []
    item: Any
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        kind = item.get("type", "message")
        if kind == "function_call_output":
            made.append(Message("tool", str(item["output"]), tool_call_id=item["call_id"]))
        elif kind == "function_call":
            call = ToolCall(item["call_id"], item["name"], item["arguments"])
            if not made or made[-1].role != "assistant":
                made.append(Message("assistant", ""))
            made[-1] = replace(made[-1], tool_calls=(*made[-1].tool_calls, call))
        else:
            content = item["content"]
            words = content if isinstance(content, str) else "".join(part["text"] for part in content)
            made.append(Message(item["role"], words))
    return made


def _next(lines: Any) -> ModelReply:
    line = next(lines, None)
    if line is None:
        raise AssertionError("the script has no more lines")
    if isinstance(line, Exception):
        raise line
    reply: ModelReply = line
    return reply


async def _ended(told: Told, shed: Shed, run: Callable[[], Awaitable[Any]]) -> Told:
    told.ran = shed.ran
    try:
        result = await run()
    except Exception as error:
        told.end = f"raises {type(error).__name__}"
    else:
        told.text = str(getattr(result, "final_output", None) or getattr(result, "output", ""))
        told.end = "answer" if told.text.strip() else "no_answer"
    return told


SIDES: dict[str, Callable[[Script], Awaitable[Told]]] = {
    "flowcore": flowcore_agent,
    "pydantic-ai": pydantic_ai,
    "openai-agents": openai_agents,
}

"""The deployment: which model an agent's manifest names, and by what parameters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flowcore import ContractError
from flowcore.messages import ModelSettings

__all__ = ["MODEL_VARIABLE", "Deployment", "Parameters"]

MODEL_VARIABLE = "FLOWCORE_AGENT_MODEL"
"""The environment variable that names the model where a manifest names none."""

_STRICT = ConfigDict(extra="forbid", frozen=True)


class Parameters(BaseModel):
    """How the model is to answer.

    `configuration` goes to the model's server as `custom_fields.configuration`. `tools` are tools that run on that
    server: they are sent along, and never run here.
    """

    model_config = _STRICT

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = Field(default=None, gt=0)
    stop: tuple[str, ...] = ()
    seed: int | None = None
    reasoning_effort: str | None = None
    configuration: Mapping[str, Any] | None = None
    tools: tuple[Mapping[str, Any], ...] = ()


class Deployment(BaseModel):
    """Which model answers, and by what parameters. Made by `Deployment.read`."""

    model_config = _STRICT

    model: str = Field(min_length=1)
    parameters: Parameters = Parameters()

    @classmethod
    def read(cls, manifest: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None) -> Deployment:
        """Read what a manifest says. Where it names no model, the one of the environment is taken.

        Raises `ContractError` that lists everything which is no part of a deployment.
        """
        given = {"model": default_model(env), **(manifest or {})}
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
            hint = "" if given["model"] else f"; name a model, or set {MODEL_VARIABLE}"
            raise ContractError(f"deployment: {'; '.join(faults)}{hint}") from None

    @classmethod
    def schema_of(cls, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the JSON Schema of a manifest, with the model of the environment as its default."""
        schema = cls.model_json_schema()
        if model := default_model(env):
            schema["properties"]["model"]["default"] = model
            schema["required"] = [name for name in schema.get("required", ()) if name != "model"]
        return schema

    @property
    def settings(self) -> ModelSettings:
        """The parameters as settings of a spec."""
        said = self.parameters
        extra: dict[str, Any] = {}
        if said.configuration is not None:
            extra["custom_fields"] = {"configuration": dict(said.configuration)}
        if said.tools:
            extra["tools"] = [dict(tool) for tool in said.tools]
        return ModelSettings(
            temperature=said.temperature,
            top_p=said.top_p,
            max_tokens=said.max_tokens,
            stop=said.stop,
            seed=said.seed,
            reasoning_effort=said.reasoning_effort,
            extra=extra,
        )


def default_model(env: Mapping[str, str] | None = None) -> str:
    """Return the model that the environment names, '' if it names none."""
    return (os.environ if env is None else env).get(MODEL_VARIABLE, "")

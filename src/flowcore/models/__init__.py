"""Models: what is asked of a language model, and the runner that pays for it."""

from .model import Model, StreamingModel
from .runner import ModelRunner

__all__ = ["Model", "ModelRunner", "StreamingModel"]

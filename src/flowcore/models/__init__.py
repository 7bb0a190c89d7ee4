"""Models: what is asked of a language model, and the runner that pays for it."""

from .chat import ChatModel
from .exchange import Reducer
from .measure import Measure
from .model import CountingModel, Feature, Model, SizedModel, StreamingModel
from .prepared import Prepared
from .prices import Prices
from .runner import ModelRunner
from .sending import OutputSink, Sink

__all__ = [
    "ChatModel",
    "CountingModel",
    "Feature",
    "Measure",
    "Model",
    "ModelRunner",
    "OutputSink",
    "Prepared",
    "Prices",
    "Reducer",
    "Sink",
    "SizedModel",
    "StreamingModel",
]

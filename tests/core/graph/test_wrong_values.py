"""Values of the wrong type are refused where they are written, with the place and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flowcore import Flow, Retry

from .problem_examples import State, finish, start

ends: Any = finish
made: Any = Flow
CASES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "name": (lambda: made(None, finish), TypeError, "Flow(None): the name is a text"),
    "id": (lambda: ends.named(5), TypeError, "finish.named(5): give a text"),
    "default route": (lambda: made("f", finish, on_error="a"), TypeError, "Flow('f', on_error=)"),
    "finish": (lambda: made("f", finish, finish=len), TypeError, "Flow('f', finish=)"),
    "node timeout": (lambda: made("f", finish, node_timeout="1"), TypeError, "give a number of seconds"),
    "no time": (lambda: made("f", finish, node_timeout=0), ValueError, "give seconds above zero"),
    "timeout": (lambda: ends.using(timeout="3"), TypeError, "finish.using(timeout='3')"),
    "truth": (lambda: ends.using(timeout=True), TypeError, "give a number of seconds"),
    "nan": (lambda: ends.using(timeout=float("nan")), ValueError, "give seconds above zero"),
    "visits": (lambda: ends.using(max_visits=1.5), TypeError, "give a whole number"),
    "fewer visits": (lambda: ends.using(max_visits=-1), ValueError, "give zero or more"),
    "retry": (lambda: ends.using(retry=3), TypeError, "finish.using(retry=3): give a Retry(...)"),
    "target": (lambda: start.to("finish"), TypeError, "start: 'finish' is no node"),
    "run id": (lambda: made("f", finish).run_sync(State(), run_id=5), TypeError, "run_id=5: give a str"),
    "no attempts": (lambda: Retry(attempts=0), ValueError, "give 1 or more"),
}


@pytest.mark.parametrize(("make", "kind", "words"), CASES.values(), ids=CASES)
def test_a_wrong_value_is_refused_where_it_is_written(
    make: Callable[[], Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert type(caught.value) is kind
    assert words in str(caught.value)

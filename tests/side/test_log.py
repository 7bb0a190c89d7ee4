"""The log: a sequence that only grows, whose views share what they have in common and never see one another."""

from __future__ import annotations

import copy
import json
import pickle
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import core_schema

from flowcore import Flow, FlowError, Log, parallel
from flowcore.state import shape_of

from ..core.graph.finding import kinds
from ..core.runs import does, ends
from .moving import finished


class Kept(BaseModel):
    log: Log[int] = Log()
    words: list[str] = []


@dataclass
class Plain:
    log: Log[int] = field(default_factory=Log)
    words: list[str] = field(default_factory=list)


FORMS = pytest.mark.parametrize("form", [Kept, Plain], ids=lambda form: form.__name__)


class Where:
    path = "here#1"


def committed(shape: Any, values: Any, act: Callable[[Any], object]) -> Any:
    """Returns the values after a visit that did `act` to its draft."""
    draft = shape.draft(values)
    act(draft)
    return {**values, **(shape.difference(draft, values, Where()) or {})}


# ---- A sequence --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_a_tree_of_views_reads_like_a_tree_of_lists(seed: int) -> None:
    """Views are drafted, settled, appended to and forked in any order, each beside a list that does the same."""
    rng = Random(seed)
    views: list[tuple[Log[int], list[int]]] = [(Log([1, 2]), [1, 2])]
    for number in range(400):
        log, wanted = rng.choice(views[-12:] if rng.random() < 0.7 else views)
        match rng.choice(["draft", "settled", "append", "extend", "add"]):
            case "draft":
                views.append((log.draft(), list(wanted)))
            case "settled":
                views.append((log.settled(), list(wanted)))
            case "append":
                log.append(number)
                wanted.append(number)
            case "extend":
                log.extend([number, -number])
                wanted += [number, -number]
            case "add":
                log += [number]
                wanted += [number]
        for log, wanted in views[-20:]:
            assert list(log) == wanted
            assert len(log) == len(wanted)
    for log, wanted in views:
        assert list(log) == wanted
        assert log == Log(wanted)
        assert (log != Log([*wanted, 0])) is True
        at = rng.randrange(len(wanted))
        assert (log[at], log[at - len(wanted)], log[-1]) == (wanted[at], wanted[at], wanted[-1])
        for part in (slice(None), slice(1, -1), slice(None, None, -1), slice(-3, None), slice(0, 100, 2)):
            assert log[part] == wanted[part]
        assert list(reversed(log)) == wanted[::-1]
        assert (wanted[-1] in log, log.index(wanted[-1]), log.count(2)) == (
            True, wanted.index(wanted[-1]), wanted.count(2),
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_what_a_view_adds_to_an_older_one_is_known_however_often_others_forked(seed: int) -> None:
    rng = Random(seed)
    views: list[tuple[Log[int], list[int], int]] = [(Log([1]), [1], -1)]
    for number in range(150):
        at = rng.randrange(max(0, len(views) - 6), len(views))
        before, wanted, _ = views[at]
        later = before.draft()
        added = [number] * rng.randint(1, 3)
        later.extend(added)
        views.append((later.settled(), [*wanted, *added], at))
    for log, wanted, parent in views:
        while parent >= 0:
            before, start, parent = views[parent]
            assert log.appended(before) == wanted[len(start) :]


@pytest.mark.parametrize("index", [3, -4, 100, -100])
def test_an_index_out_of_range_is_said(index: int) -> None:
    with pytest.raises(IndexError, match=r"the log has 3 items"):
        Log([1, 2, 3])[index]


def test_an_empty_log_is_a_sequence_too() -> None:
    log: Log[int] = Log()
    assert (list(log), len(log), bool(log), log[:], log == Log()) == ([], 0, False, [], True)
    with pytest.raises(IndexError):
        log[0]


def test_a_log_equals_logs_only_and_is_not_hashed() -> None:
    assert Log([1]) != [1]
    assert Log([1]) != Log([2])
    assert Log([1]) == Log([True])
    with pytest.raises(TypeError):
        hash(Log())


def test_iterating_shows_what_was_there_while_others_append() -> None:
    log = Log(range(3))
    other = log.draft()
    seen = []
    for item in log:
        seen.append(item)
        other.append(item)
        other = other.settled()
    assert seen == [0, 1, 2]
    assert list(other) == [0, 1, 2, 0, 1, 2]
    assert list(log) == [0, 1, 2]


def test_nothing_can_be_taken_out_or_changed() -> None:
    log = Log([1, 2])
    for word in ("pop", "remove", "clear", "insert", "sort", "reverse", "__setitem__", "__delitem__"):
        assert not hasattr(log, word)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda log: pickle.loads(pickle.dumps(log))])
def test_a_copy_holds_the_same_and_grows_by_itself(how: Any) -> None:
    base = Log([1, 2])
    ahead = base.draft()
    ahead.append(3)
    ahead = ahead.settled()
    fork = base.draft()
    fork.append(4)
    for log, wanted in ((base, [1, 2]), (ahead, [1, 2, 3]), (fork, [1, 2, 4]), (fork.settled(), [1, 2, 4])):
        made = how(log)
        assert (list(made), made == log) == (wanted, True)
        made.append(9)
        assert list(log) == wanted
        log.append(8)
        assert list(made) == [*wanted, 9]
        assert list(made.draft()) == [*wanted, 9]


def test_a_pickled_view_holds_nothing_that_others_appended() -> None:
    base = Log(["mine"])
    other = base.draft()
    other.append("secret of another")
    other.settled()
    assert b"secret" not in pickle.dumps(base)
    assert b"secret" not in pickle.dumps(copy.deepcopy(base))


# ---- A field of a state ------------------------------------------------------------------------------------


@FORMS
def test_a_visit_shares_the_log_and_keeps_what_it_appended(form: Any) -> None:
    shape = shape_of(form)
    given = form(log=Log([1]))
    values = shape.values(given)
    first = committed(shape, values, lambda draft: draft.log.append(2))
    second = committed(shape, first, lambda draft: draft.log.extend([3, 4]))
    assert [list(one["log"]) for one in (values, first, second)] == [[1], [1, 2], [1, 2, 3, 4]]
    assert (first["log"].fresh, second["log"].fresh) == ([2], [3, 4])
    assert list(given.log) == [1]
    given.log.append(7)
    assert list(values["log"]) == [1]


@FORMS
def test_a_draft_that_is_dropped_leaves_nothing_behind(form: Any) -> None:
    shape = shape_of(form)
    values = shape.values(form(log=Log([1])))
    for number in range(3):
        shape.draft(values).log.append(number)
    assert list(values["log"]) == [1]
    assert not shape.difference(shape.draft(values), values, Where())


@FORMS
def test_a_log_that_is_only_read_is_no_change(form: Any) -> None:
    shape = shape_of(form)
    values = shape.values(form(log=Log([1, 2])))
    draft = shape.draft(values)
    assert (list(draft.log), draft.log[-1]) == ([1, 2], 2)
    assert not shape.difference(draft, values, Where())


@FORMS
def test_what_leaks_out_of_a_visit_changes_nothing_later(form: Any) -> None:
    shape = shape_of(form)
    values = shape.values(form(log=Log([1])))
    leaked: list[Any] = []
    first = committed(shape, values, lambda draft: (draft.log.append(2), leaked.append(draft.log)))
    leaked[0].append(99)
    assert list(first["log"]) == [1, 2]
    second = committed(shape, first, lambda draft: draft.log.append(3))
    leaked[0].append(98)
    assert (list(first["log"]), list(second["log"])) == ([1, 2], [1, 2, 3])


@FORMS
def test_two_drafts_of_one_state_do_not_see_one_another(form: Any) -> None:
    shape = shape_of(form)
    values = shape.values(form(log=Log([1])))
    left = committed(shape, values, lambda draft: draft.log.append(2))
    right = committed(shape, values, lambda draft: draft.log.append(3))
    both = committed(shape, right, lambda draft: draft.log.append(4))
    assert [list(one["log"]) for one in (left, right, both, values)] == [[1, 2], [1, 3], [1, 3, 4], [1]]


@FORMS
@pytest.mark.parametrize("kept", [[], [1], [1, 2], [1, 9]])
async def test_an_older_or_another_log_may_be_put_in_its_place(form: Any, kept: list[int]) -> None:
    def put(step: Any) -> None:
        step.state.log = Log(kept)

    end = ends(form, lambda step: list(step.state.log))
    result = await finished(Flow("f", does(put, "put", form).to(end), end), form(log=Log([1, 2])))
    assert (result.status, result.value) == ("completed", kept)


@FORMS
async def test_a_view_from_an_earlier_visit_may_be_put_back(form: Any) -> None:
    kept: list[Any] = []

    def first(step: Any) -> None:
        step.state.log.append(1)
        kept.append(step.state.log)

    def third(step: Any) -> None:
        step.state.log = kept[0]
        step.state.log.append(3)

    end = ends(form, lambda step: list(step.state.log))
    last = does(third, "n3", form)
    second = does(lambda step: step.state.log.append(2), "n2", form)
    flow = Flow("f", does(first, "n1", form).to(second), second.to(last), last.to(end), end)
    assert (await finished(flow, form())).value == [1, 3]


@FORMS
@pytest.mark.parametrize("wrong", ["many", None, [1], 1.5])
async def test_an_item_that_does_not_fit_is_refused_with_its_field(form: Any, wrong: Any) -> None:
    end = ends(form)
    add = does(lambda step: step.state.log.append(wrong), "add", form)
    result = await finished(Flow("f", add.to(end), end), form(log=Log([1])))
    assert result.status == "failed"
    assert result.failure is not None
    assert f"add#1: {form.__name__}.log[0] does not fit" in result.failure.message
    assert list(result.state.log) == [1]


def test_only_what_was_appended_is_validated() -> None:
    checked: list[Any] = []

    class Counted(int):
        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            def check(value: Any) -> Any:
                checked.append(value)
                return value

            return core_schema.no_info_plain_validator_function(check)

    class Own(BaseModel):
        log: Log[Counted] = Log()
        text: str = ""

    shape = shape_of(Own)
    values = shape.values(Own(log=Log([Counted(n) for n in range(100)])))
    checked.clear()
    values = committed(shape, values, lambda draft: draft.log.append(Counted(100)))
    values = committed(shape, values, lambda draft: setattr(draft, "text", "other"))
    values = committed(shape, values, lambda draft: draft.log.extend([Counted(101), Counted(102)]))
    assert checked == [100, 101, 102]


def test_an_item_is_turned_into_its_type_as_in_any_field() -> None:
    shape = shape_of(Kept)
    values = committed(shape, shape.values(Kept()), lambda draft: draft.log.append("7"))
    assert list(values["log"]) == [7]
    assert list(Kept(log=["1", 2]).log) == [1, 2]  # type: ignore[arg-type]


@pytest.mark.parametrize("form", [Kept, Plain])
def test_a_state_with_a_log_round_trips_through_json(form: Any) -> None:
    adapter = TypeAdapter(form)
    base = Log([1, 2])
    fork = base.draft()
    base.draft().append(5)
    fork.append(3)
    state = form(log=fork)
    dumped = adapter.dump_json(state)
    assert json.loads(dumped)["log"] == [1, 2, 3]
    again = adapter.validate_json(dumped)
    assert again == state
    assert type(again.log) is Log
    assert adapter.dump_python(state)["log"] == [1, 2, 3]


def test_a_log_of_models_round_trips_and_is_refused_what_does_not_fit() -> None:
    class Line(BaseModel, frozen=True):
        text: str

    class Talk(BaseModel):
        lines: Log[Line] = Log()

    talk = Talk(lines=Log([Line(text="a")]))
    assert Talk.model_validate_json(talk.model_dump_json()) == talk
    assert talk.model_dump() == {"lines": [{"text": "a"}]}
    with pytest.raises(ValidationError):
        Talk.model_validate({"lines": [{"word": "a"}]})
    with pytest.raises(ValidationError):
        Talk.model_validate({"lines": 5})
    assert Talk.model_json_schema()["properties"]["lines"]["type"] == "array"


@pytest.mark.parametrize("deep", [False, True])
def test_a_copied_model_has_a_log_of_its_own_if_it_is_copied_deeply(*, deep: bool) -> None:
    state = Kept(log=Log([1]))
    made = state.model_copy(deep=deep)
    made.log.append(2)
    assert list(made.log) == [1, 2]
    assert list(state.log) == ([1] if deep else [1, 2])


def test_the_default_of_a_model_is_not_shared() -> None:
    first, second = Kept(), Kept()
    first.log.append(1)
    assert (list(first.log), list(second.log), list(Kept().log)) == ([1], [], [])


# ---- The same cost at any length ---------------------------------------------------------------------------


def work_of(act: Callable[[], object]) -> int:
    """Returns how much memory `act` takes at its highest: what copies a log shows there."""
    act()
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("what", ["append", "drop", "fork"])
def test_a_visit_takes_the_same_at_any_length(what: str) -> None:
    shape = shape_of(Kept)

    def visit(length: int) -> int:
        values = shape.values(Kept(log=Log(range(length))))
        values = committed(shape, values, lambda draft: draft.log.append(1))

        def act() -> None:
            if what == "drop":
                shape.draft(values).log.append(1)
            elif what == "append":
                committed(shape, values, lambda draft: draft.log.append(2))
            else:
                for _ in range(2):
                    committed(shape, values, lambda draft: draft.log.append(3))

        return work_of(act)

    assert visit(100_000) < visit(1_000) * 3 + 2_000


def test_many_forks_one_upon_the_other_copy_no_more_than_little() -> None:
    """As in a loop around branches that all append: each lap forks from where the last one joined."""

    def laps(count: int) -> int:
        log: Log[int] = Log(range(10))

        def lap() -> None:
            nonlocal log
            for _ in range(count):
                left, right = log.draft(), log.draft()
                left.append(1)
                right.append(2)
                left, right = left.settled(), right.settled()
                joined = log.draft()
                joined.extend([*(left.appended(log) or ()), *(right.appended(log) or ())])
                log = joined.settled()

        lap()
        return work_of(log.settled)

    assert laps(2000) < laps(20) * 4 + 8_000


# ---- Branches inside branches ------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("laps", [1, 3])
async def test_forks_upon_forks_lose_nothing_and_keep_declared_order(depth: int, laps: int) -> None:
    def add(id: str) -> Any:
        return does(lambda step: step.state.log.append(int(id)), id, Kept, starts_round=False)

    def nest(level: int, prefix: str) -> tuple[Any, list[int]]:
        """Returns a fan whose second branch holds another fan between two appends, and what they append."""
        if level == 0:
            return add(prefix), [int(prefix)]
        inner, wanted = nest(level - 1, f"{prefix}1")
        before, after, end = add(f"{prefix}2"), add(f"{prefix}3"), ends(Kept)
        row = Flow(f"row{prefix}", before.to(inner), inner.to(after), after.to(end), end).as_node(f"row{prefix}")
        fan = parallel(f"fan{prefix}", add(f"{prefix}4"), row, add(f"{prefix}5"))
        whole = [int(f"{prefix}4"), int(f"{prefix}2"), *wanted, int(f"{prefix}3"), int(f"{prefix}5")]
        return fan, whole

    rows, wanted = [], []
    for lap in range(laps):
        row, added = nest(depth, str(lap + 6))
        rows.append(row)
        wanted += added
    end = ends(Kept, lambda step: list(step.state.log))
    flow = Flow("f", *(row.to(following) for row, following in zip(rows, [*rows[1:], end], strict=True)), end)
    result = await finished(flow, Kept(log=Log([0])))
    assert result.status == "completed", result.failure
    assert result.value == [0, *wanted]


# ---- Problems ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hard:
    text: str
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Soft:
    texts: list[str]


@dataclass
class Loose:
    text: str


class Frozen(BaseModel, frozen=True):
    text: str
    hard: Hard | None = None


class FrozenSoft(BaseModel, frozen=True):
    texts: list[str]


class FrozenAroundSoft(BaseModel, frozen=True):
    soft: Soft


@pytest.mark.parametrize("kind", [int, str, Hard, Frozen, tuple[int, str], frozenset[str], int | None, bytes])
@pytest.mark.parametrize("form", ["model", "dataclass"])
def test_a_log_of_items_that_cannot_change_is_right(kind: Any, form: str) -> None:
    end = ends(state_with(Log[kind], form))  # type: ignore[valid-type]
    assert Flow("f", end).name == "f"


@pytest.mark.parametrize(
    "kind",
    [list[int], dict[str, int], set[int], Soft, Loose, Kept, FrozenSoft, FrozenAroundSoft,
     tuple[list[int], ...], int | list[int], Log[int], list],
)  # fmt: skip
@pytest.mark.parametrize("form", ["model", "dataclass", "optional", "annotated"])
def test_a_log_of_items_that_can_change_is_a_problem(kind: Any, form: str) -> None:
    assert kinds(ends(state_with(Log[kind], form))) == [("mutable_log", "f")]  # type: ignore[valid-type]


def test_bytes_that_can_change_are_a_problem_too() -> None:
    assert kinds(ends(state_with(Log[bytearray], "dataclass"))) == [("mutable_log", "f")]


def state_with(hint: Any, form: str) -> type:
    if form in ("dataclass", "annotated"):
        wanted = Annotated[hint, "words"] if form == "annotated" else hint
        body = {"__annotations__": {"log": wanted}, "log": field(default_factory=Log)}
        return dataclass(type("Made", (), body))
    wanted = hint | None if form == "optional" else hint
    return type("Made", (BaseModel,), {"__annotations__": {"log": wanted}, "__module__": __name__, "log": Log()})


def test_the_log_of_a_flow_inside_is_looked_at_too() -> None:
    with pytest.raises(FlowError, match="mutable_log"):
        Flow("inner", ends(state_with(Log[list[int]], "model")))

"""A stored run in today's flow: what may change, what may not, and how a run is led over a change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from flowcore import Budget, Complete, Continue, Flow, Step, node
from flowcore.errors import FlowChanged, FlowError
from flowcore.runtime.opening import codec_of
from flowcore.store import MemoryRunStore, RunStore, SQLiteRunStore
from flowcore.store.reading import read_trace

STORES: list[Callable[[Any], RunStore]] = [
    lambda folder: MemoryRunStore(),
    lambda folder: SQLiteRunStore(folder / "runs.db", synchronous="NORMAL"),
]


@pytest.fixture(params=STORES, ids=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Any) -> RunStore:
    made: RunStore = request.param(tmp_path)
    return made


class Item(BaseModel):
    name: str
    price: int = 0


@dataclass
class Order:
    note: str = ""
    count: int = 0
    items: list[Item] = field(default_factory=list[Item])
    log: list[str] = field(default_factory=list[str])


class Crash(BaseException):
    """The process is gone."""


def visit(name: str, *, last: bool = False, crash: bool = False, kind: Any = Order, **options: Any) -> Any:
    """Returns a node that notes its name; with `crash` its process dies in it."""

    async def fn(step: Any) -> Any:
        if crash:
            await step_away(step)
        step.state.log.append(f"{name}#{step.visit}")
        step.state.count += 1
        return Complete(list(step.state.log)) if last else Continue()

    fn.__annotations__ = {"step": Step[kind], "return": Complete[list[str]] if last else Continue}
    fn.__name__ = name
    made: Any = node(**options) if options else node
    return made(fn)


async def step_away(step: Any) -> None:
    raise Crash(step.path)


def row(*nodes: Any, name: str = "order", **options: Any) -> Flow[Any, Any, Any]:
    """Returns a flow of nodes in a row."""
    rows: list[Any] = [one.to(following) for one, following in pairwise(nodes)]
    made: Flow[Any, Any, Any] = Flow(name, *rows, nodes[-1], **options)
    return made


async def left(flow: Flow[Any, Any, Any], store: RunStore, state: Any = None) -> str:
    """Runs a flow until it is paused where a node crashes, and lets its process go."""
    run_id = "run"
    await died(flow, store, run_id, Order("hello", items=[Item(name="pen")]) if state is None else state)
    return run_id


async def died(flow: Flow[Any, Any, Any], store: RunStore, run_id: str, state: Any) -> None:
    class Dying:
        """Hands on to the store until the run is to end: that never comes to be written."""

        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

        async def settle(self, *args: Any, **known: Any) -> bool:
            row = await store.run(run_id)
            await store.release(run_id, row.owner)
            return True

    dying: Any = Dying()
    with pytest.raises(BaseException):  # noqa: B017, PT011 - however it ends: nothing of that is written
        await flow.run(state, store=dying, run_id=run_id, budget=Budget(rounds=9))
    assert (await store.run(run_id)).end is None


a, b, c = visit("a"), visit("b"), visit("c", last=True)
OLD = row(a, visit("b", crash=True), c)


async def refused(flow: Flow[Any, Any, Any], store: RunStore, *words: str) -> FlowChanged:
    before = await store.load("run")
    with pytest.raises(FlowChanged) as found:
        await flow.resume("run", store=store)
    after = await store.load("run")
    assert (after.visits, after.frames, after.notes) == (before.visits, before.frames, before.notes)
    assert (after.run.owner, after.run.status) == ("", before.run.status)
    assert read_trace(after, codec_of(OLD.plan)).path
    for word in words:
        assert any(word in change for change in found.value.changes), found.value.changes
    return found.value


async def test_code_routes_and_other_nodes_may_change(store: RunStore) -> None:
    await left(OLD, store)
    extra = visit("extra")
    today = Flow(
        "order",
        visit("first").to(a),
        a.to(b),
        b.using(timeout=9).to(extra),
        extra.to(c),
        c,
        description="another one",
    )
    assert await today.resume("run", store=store) == ["a#1", "b#1", "extra#1", "c#1"]


async def test_a_node_that_is_gone_is_refused_and_one_that_was_renamed_is_found(store: RunStore) -> None:
    await left(OLD, store)
    check = visit("check")
    error = await refused(row(a, check, c), store, "b#1: was the node 'b', a function", "renamed_from('b')")
    assert len(error.changes) == 1
    today = row(a, check.renamed_from("b"), c)
    assert await today.resume("run", store=store) == ["a#1", "check#1", "c#1"]
    stored = await store.load("run")
    assert [row.node for row in stored.visits] == ["a", "check", "c"]


def looping(first: Any, second: Any, end: Any) -> Flow[Any, Any, Any]:
    return Flow("order", first.to(more=second, done=end), second.to(first._with(routes=())), end)


def turn(name: str) -> Any:
    @node(id=name, starts_round=True)
    async def fn(step: Step[Order]) -> Continue[Literal["more", "done"]]:
        step.state.log.append(f"{name}#{step.visit}")
        return Continue("more" if step.visit < 3 else "done")

    return fn


async def test_visits_of_a_renamed_node_are_counted_on(store: RunStore) -> None:
    await left(looping(turn("loop"), visit("b", crash=True), c), store)
    today = looping(turn("turn").renamed_from("loop"), visit("again").renamed_from("b"), c)
    assert await today.resume("run", store=store) == ["loop#1", "again#1", "turn#2", "again#2", "turn#3", "c#1"]


async def test_every_change_is_listed(store: RunStore) -> None:
    @dataclass
    class Other:
        note: int = 0
        log: list[str] = field(default_factory=list[str])

    await left(OLD, store)
    nodes = [
        visit(name, kind=Other, last=name == "c", **({"effects": True} if name == "b" else {})) for name in "abc"
    ]
    error = await refused(row(*nodes), store, "it was of ", "b#1: was without effects, is with effects")
    assert len(error.changes) == 2
    assert str(error).count("\n") == 2
    assert all("fork it at an earlier visit" in change for change in error.changes)


async def test_a_run_of_another_flow_is_refused(store: RunStore) -> None:
    await left(OLD, store)
    await refused(row(a, b, c, name="other"), store, "the flow: was 'order', is 'other'")


@pytest.mark.behaviour("A145")
async def test_nodes_of_one_name_in_two_flows_are_two(store: RunStore) -> None:
    one = row(visit("validate"), visit("b", crash=True), c, name="one")
    other = row(visit("validate"), visit("b", crash=True), c, name="other")
    await died(one, store, "r1", Order("first"))
    await died(other, store, "r2", Order("second"))
    ids = [(row.run_id, row.flow) for row in await store.runs(flow="one")]
    assert ids == [("r1", "one")]
    assert await row(visit("validate"), b, c, name="one").resume("r1", store=store) == ["validate#1", "b#1", "c#1"]
    with pytest.raises(FlowChanged, match="is none of the flow 'one'"):
        await row(visit("validate"), b, c, name="one").resume("r2", store=store)


def broken_upgrade(stored: dict[str, Any], path: str) -> Any:
    return 1 / 0


def idle_upgrade(stored: dict[str, Any], path: str) -> Any:
    return stored


class TestStates:
    """The state class is the same name with other fields: as code changes between two processes."""

    async def refused_with(self, store: RunStore, monkeypatch: pytest.MonkeyPatch, cls: Any, *words: str) -> None:
        await left(OLD, store)
        today = self.today(monkeypatch, cls)
        await refused(today, store, *words)

    def today(self, monkeypatch: pytest.MonkeyPatch, cls: Any, **options: Any) -> Flow[Any, Any, Any]:
        cls.__module__, cls.__qualname__ = __name__, "Order"
        monkeypatch.setitem(globals(), "Order", cls)
        return row(visit("a", kind=cls), visit("b", kind=cls), visit("c", kind=cls, last=True), **options)

    async def test_a_new_field_with_a_default(self, store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
        await left(OLD, store)

        @dataclass
        class Today:
            note: str = ""
            count: int = 0
            items: list[Item] = field(default_factory=list[Item])
            log: list[str] = field(default_factory=list[str])
            more: dict[str, int] = field(default_factory=lambda: {"a": 1})

        result = await self.today(monkeypatch, Today).resume("run", store=store, check=False)
        assert result.value == ["a#1", "b#1", "c#1"]
        assert (result.state.more, result.state.note, result.state.count) == ({"a": 1}, "hello", 3)

    async def test_a_new_field_without_one(self, store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
        class Today(BaseModel):
            note: str
            count: int
            items: list[Item]
            log: list[str]
            more: int

        await self.refused_with(store, monkeypatch, Today, "state: more is new in Order and has no default")

    async def test_a_removed_field_and_a_changed_type(
        self, store: RunStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        @dataclass
        class Today:
            count: str = ""
            items: list[Item] = field(default_factory=list[Item])
            log: list[str] = field(default_factory=list[str])

        words = ("state: note is no field of Order any more", "state: count holds 1, which is no str")
        await self.refused_with(store, monkeypatch, Today, *words)

    async def test_a_type_that_loads_and_dumps_otherwise(
        self, store: RunStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        @dataclass
        class Today:
            note: str = ""
            count: float = 0
            items: list[Item] = field(default_factory=list[Item])
            log: list[str] = field(default_factory=list[str])

        await self.refused_with(
            store, monkeypatch, Today, "state: count holds int 1, which loads as float 1, was int"
        )

    async def test_a_class_inside_that_changed(self, store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
        await left(OLD, store)

        class Changed(BaseModel):
            name: str
            price: str = ""

        Changed.__module__, Changed.__qualname__ = __name__, "Item"
        monkeypatch.setitem(globals(), "Item", Changed)

        @dataclass
        class Today:
            note: str = ""
            count: int = 0
            items: list[Changed] = field(default_factory=list[Changed])
            log: list[str] = field(default_factory=list[str])

        await refused(self.today(monkeypatch, Today), store, "state: items[0].price holds 0, which is no str")

    async def test_upgrade_makes_it_one_of_today(self, store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
        await left(OLD, store)

        class Today(BaseModel):
            words: list[str]
            count: float = 0
            names: list[str]
            log: list[str]

        asked: list[tuple[dict[str, Any], str]] = []

        def upgrade(stored: dict[str, Any], path: str) -> Today:
            asked.append((stored, path))
            names = [item["name"] for item in stored["items"]]
            return Today(words=stored["note"].split(), count=stored["count"], names=names, log=stored["log"])

        made = self.today(monkeypatch, Today, upgrade=upgrade)
        crashing = row(
            visit("a", kind=Today), b_of(Today), visit("c", kind=Today, last=True, crash=True), upgrade=upgrade
        )
        with pytest.raises(BaseException):  # noqa: B017, PT011 - its process dies
            await crashing.resume("run", store=Leaving(store))
        result = await made.resume("run", store=store, check=False)
        assert result.value == ["a#1", "b#1", "c#1"]
        assert (result.state.words, result.state.names, result.state.count) == (["hello"], ["pen"], 3)
        items = [{"name": "pen", "price": 0}]
        assert asked == [({"note": "hello", "count": 1, "items": items, "log": ["a#1"]}, "")]

    @pytest.mark.parametrize(
        ("upgrade", "words"),
        [
            (broken_upgrade, "upgrade raised ZeroDivisionError"),
            (idle_upgrade, "upgrade returned dict, not Order"),
        ],
    )
    async def test_an_upgrade_that_fails(
        self, store: RunStore, monkeypatch: pytest.MonkeyPatch, upgrade: Any, words: str
    ) -> None:
        @dataclass
        class Today:
            log: list[str] = field(default_factory=list[str])
            count: int = 0

        await left(OLD, store)
        await refused(self.today(monkeypatch, Today, upgrade=upgrade), store, words, "mend the upgrade")


def b_of(kind: Any) -> Any:
    return visit("b", kind=kind)


class _Leaving:
    """A store that lets the run go instead of ending it."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def settle(self, run_id: str, *args: Any, **known: Any) -> bool:
        await self._store.release(run_id, (await self._store.run(run_id)).owner)
        return True


def test_former_names_are_of_one_node_and_of_none_today() -> None:
    with pytest.raises(FlowError, match=r"former name 'a' is that of 'a'"):
        row(a, b.renamed_from("a"), c)
    with pytest.raises(FlowError, match=r"former name 'old' is that of 'a'"):
        row(a.renamed_from("old"), b.renamed_from("old"), c)
    with pytest.raises(TypeError, match="give its former ids"):
        a.renamed_from()


def test_a_reference_may_say_the_former_name_too() -> None:
    flow = Flow("order", a.to(b.renamed_from("old")), b.to(c), c)
    assert flow.plan.nodes["b"].former == ("old",)
    assert '"renamed_from": ["old"]' in flow.to_json()


Leaving: Any = _Leaving

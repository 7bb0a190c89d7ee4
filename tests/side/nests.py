"""Random nests of rows, branches, items and sub-flows: as plain data, as a flow, and as what they come to.

`Reference` evaluates a nest in plain Python, one step after the other. It knows of no tasks, drafts or frames.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Annotated, Any, Literal, Never

from pydantic import BaseModel

from flowcore import (
    Complete,
    Continue,
    Flow,
    ItemFailure,
    Log,
    Merge,
    Node,
    Retry,
    Step,
    each,
    node,
    parallel,
)


def added(before: int, values: Sequence[int]) -> int:
    return before + sum(value - before for value in values)


def united(before: dict[str, str], values: Sequence[dict[str, str]]) -> dict[str, str]:
    result = dict(before)
    for value in values:
        result.update(value)
    return result


class Sheet(BaseModel):
    """What nests work on: a log, fields with a rule, and one without."""

    log: Log[str] = Log()
    words: Annotated[list[str], Merge.append] = []
    total: Annotated[int, Merge(added)] = 0
    facts: Annotated[dict[str, str], Merge(united)] = {}
    plain: str = ""
    index: int = 0


# ---- Nests as plain data -----------------------------------------------------------------------------------

Op = Literal["log", "words", "total", "facts", "plain"]


@dataclass(frozen=True)
class Leaf:
    """A node that writes; `fails`: never, at its first attempts, always, or for items of an odd index."""

    id: str
    ops: tuple[Op, ...] = ()
    fails: Literal["", "once", "always", "odd"] = ""
    handler: Leaf | None = None
    pays: bool = False
    hangs: bool = False


@dataclass(frozen=True)
class Row:
    """Steps one after the other, in a sub-flow that shares the state or has one of its own."""

    id: str
    steps: tuple[Nest, ...]
    rescue: Leaf | None = None
    shared: bool = True


@dataclass(frozen=True)
class Fan:
    """Branches. `winners` are those that the join waits for; the others hang or fail."""

    id: str
    branches: tuple[Nest, ...]
    join: Literal["all", "any"] | int = "all"
    winners: tuple[int, ...] = ()


@dataclass(frozen=True)
class Items:
    """As many items as the state has words, and some more."""

    id: str
    do: Row
    more: int
    limit: int
    tolerant: bool


Nest = Leaf | Row | Fan | Items


@dataclass
class _Maker:
    rng: Random
    pays: bool
    count: int = 0
    ops: list[Op] = field(default_factory=lambda: ["log", "words", "total", "facts"])

    def id(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def leaf(self, *, plain: bool, **options: Any) -> Leaf:
        ops = [self.rng.choice(self.ops) for _ in range(self.rng.randint(0, 3))]
        if plain and self.rng.random() < 0.5:
            ops.append("plain")
        pays = self.pays and self.rng.random() < 0.3
        made = Leaf(self.id("n"), tuple(ops), pays=pays, **options)
        return replace(made, fails="once") if not made.fails and self.rng.random() < 0.2 else made

    def nest(self, depth: int, *, plain: bool) -> Nest:
        kinds = ["leaf"] if depth == 0 else ["leaf", "row", "fan", "fan", "items"]
        match self.rng.choice(kinds):
            case "row":
                return self.row(depth, plain=plain)
            case "fan":
                return self.fan(depth, plain=plain)
            case "items":
                tolerant = self.rng.random() < 0.5
                do = replace(self.row(depth, plain=True, odd=tolerant), shared=True)
                return Items(self.id("each"), do, self.rng.choice([0, 1, 3]), self.rng.choice([1, 2, 9]), tolerant)
        return self.leaf(plain=plain)

    def row(self, depth: int, *, plain: bool, odd: bool = False) -> Row:
        shared = self.rng.random() < 0.5
        inner = plain or not shared
        steps = [self.nest(depth - 1, plain=inner) for _ in range(self.rng.randint(1, 3))]
        if odd:
            steps.insert(0, self.leaf(plain=inner, fails="odd"))
        rescue = None
        if not odd and self.rng.random() < 0.5:
            rescue = replace(self.leaf(plain=inner), fails="")
            if not self.pays:
                steps.append(self.breaking(plain=inner))
        return Row(self.id("row"), tuple(steps), rescue, shared)

    def breaking(self, *, plain: bool) -> Nest:
        """Something that fails: a step, or branches of which one fails while the others go on or have ended."""
        failing = self.leaf(plain=plain, fails="always")
        if self.rng.random() < 0.5:
            return failing
        branches: list[Nest] = [self.leaf(plain=False) for _ in range(2)]
        branches.insert(self.rng.randrange(3), failing)
        return Fan(self.id("fan"), tuple(branches))

    def fan(self, depth: int, *, plain: bool) -> Fan:
        size = self.rng.randint(1, 4)
        lucky = self.rng.randrange(size) if plain else -1
        branches = [self.branch(depth, plain=number == lucky) for number in range(size)]
        join: Any = self.rng.choice(["all", "all", "any", "n"])
        if join == "all":
            return Fan(self.id("fan"), tuple(branches), "all", tuple(range(size)))
        wanted = 1 if join == "any" else self.rng.randint(1, size)
        winners = sorted(self.rng.sample(range(size), wanted))
        for number in set(range(size)) - set(winners):
            branches[number] = self.loser(plain=number == lucky)
        return Fan(self.id("fan"), tuple(branches), "any" if join == "any" else wanted, tuple(winners))

    def branch(self, depth: int, *, plain: bool) -> Nest:
        if self.rng.random() < 0.25:
            handler = replace(self.leaf(plain=plain), fails="")
            return self.leaf(plain=plain, fails="always", handler=handler)
        return self.nest(depth - 1, plain=plain)

    def loser(self, *, plain: bool) -> Nest:
        hanging = replace(self.leaf(plain=plain, hangs=True), pays=False)  # chance says whether it begins
        match self.rng.choice(["leaf", "row", "fails"]):
            case "row":
                return Row(self.id("row"), (hanging, self.leaf(plain=plain)))
            case "fails":
                return replace(self.leaf(plain=plain, fails="always"), pays=False)
        return hanging


def random_nest(seed: int, depth: int = 3) -> Row:
    """Returns the outermost row of a nest of at most so many levels."""
    rng = Random(seed)
    maker = _Maker(rng, pays=rng.random() < 0.5)
    made = maker.row(depth, plain=True)
    if not maker.pays and rng.random() < 0.2:
        made = replace(made, steps=(*made.steps, maker.breaking(plain=True)))
    return replace(made, shared=True)


# ---- Nests as flows ----------------------------------------------------------------------------------------

Act = Callable[[Step[Sheet], Leaf], Any]
Summary = tuple[int, str]


def summary(sheet: Any) -> Summary:
    """Returns what a row completes with."""
    facts = ",".join(f"{key}={value}" for key, value in sorted(sheet.facts.items()))
    return len(sheet.log), f"{'.'.join(sheet.log)}/{'.'.join(sheet.words)}/{sheet.total}/{facts}/{sheet.plain}"


def write(sheet: Any, leaf: Leaf) -> None:
    """Does what a leaf does to its state."""
    for op in leaf.ops:
        match op:
            case "log":
                sheet.log.append(leaf.id)
            case "words":
                sheet.words.append(leaf.id)
            case "total":
                sheet.total += len(leaf.id) + len(sheet.words)
            case "facts":
                sheet.facts[leaf.id[-1]] = leaf.id
            case "plain":
                sheet.plain += f"<{leaf.id}>"


def into(sheet: Any) -> Sheet:
    """Returns the state of a row of its own."""
    return Sheet(words=list(sheet.words[-1:]), total=sheet.total)


def out_of(draft: Any, result: Summary) -> Continue:
    draft.words.append(result[1][:20])
    draft.total += result[0]
    return Continue()


def items_of(items: Items, sheet: Any) -> list[Sheet]:
    count = min(3, len(sheet.words)) + items.more
    return [Sheet(index=index, total=sheet.total) for index in range(count)]


def put_together(draft: Any, results: Sequence[Any]) -> Continue:
    for index, result in enumerate(results):
        draft.log.append(f"{index}:{'failed' if isinstance(result, ItemFailure) else result[1][:10]}")
    draft.total += len(results)
    return Continue()


class Failing(Exception):
    """What a leaf raises that is told to."""


def flow_of(row: Row, act: Act) -> Flow[Any, Any, Any]:
    """Returns the flow of a row. Each leaf awaits `act` before it writes."""

    @node(id=f"{row.id}_end", starts_round=False)
    async def end(step: Step[Sheet]) -> Complete[Summary]:
        return Complete(summary(step.state))

    bare = [_node_of(item, act) for item in row.steps]
    ways = zip(row.steps, bare, [*bare[1:], end], strict=True)
    rows: list[Any] = [_set(step, item).to(following) for step, item, following in ways]
    rescue = None
    if row.rescue is not None:
        rescue = _node_of(row.rescue, act)
        rows.append(rescue.to(end))
    return Flow(row.id, *rows, end.on_error(None), on_error=rescue)


def _node_of(nest: Nest, act: Act) -> Node[Any, Any, None, Never]:
    match nest:
        case Leaf():
            return _leaf_node(nest, act)
        case Row(shared=True):
            return flow_of(nest, act).as_node(nest.id)
        case Row():
            return flow_of(nest, act).as_node(nest.id, state=Sheet, enter=into, leave=out_of)
        case Fan():
            return parallel(nest.id, *(_branch_of(branch, act) for branch in nest.branches), join=nest.join)
        case Items():
            return _items_node(nest, act)


def _branch_of(nest: Nest, act: Act) -> Node[Any, Any, None, Never]:
    made = _set(nest, _node_of(nest, act))
    if isinstance(nest, Leaf) and nest.handler is not None:
        return made.on_error(_node_of(nest.handler, act))
    return made


def _items_node(nest: Items, act: Act) -> Node[Any, Any, None, Never]:
    def collect(draft: Sheet, results: list[Any]) -> Continue:
        return put_together(draft, results)

    do = flow_of(nest.do, act)
    made: Any = each(
        nest.id,
        over=lambda sheet: items_of(nest, sheet),
        do=do,
        collect=collect,
        limit=nest.limit,
        on_item_error="collect" if nest.tolerant else "fail",
    )
    return made  # type: ignore[no-any-return]


def _leaf_node(leaf: Leaf, act: Act) -> Node[Any, Any, None, Never]:
    @node(id=leaf.id, starts_round=leaf.pays)
    async def function(step: Step[Sheet]) -> Continue:
        await act(step, leaf)
        write(step.state, leaf)
        odd = leaf.fails == "odd" and step.state.index % 2 == 1
        if odd or leaf.fails == "always" or (leaf.fails == "once" and step.attempt == 1):
            raise Failing(leaf.id)
        return Continue()

    return function


def _set(nest: Nest, row: Node[Any, Any, None, Never]) -> Node[Any, Any, None, Never]:
    again = isinstance(nest, Leaf) and nest.fails == "once"
    return row.using(retry=Retry(attempts=2, wait=0.5)) if again else row


# ---- What nests come to ------------------------------------------------------------------------------------


class Failed(Exception):
    """A nest has failed, and this is the path up to there."""


@dataclass
class Plain:
    """The fields of a `Sheet`, with a list in the place of the log."""

    log: list[str]
    words: list[str]
    total: int
    facts: dict[str, str]
    plain: str
    index: int


class Reference:
    """Evaluates nests. Each method returns the path, and changes the state it is given."""

    def __init__(self) -> None:
        self.rounds = 0

    def result(self, row: Row) -> tuple[str, Plain, Summary | None, str]:
        """Returns how a run of the row ends: status, state, value, path."""
        sheet = self.plain(Sheet())
        try:
            path = self.row(row, sheet)
        except Failed as failed:
            return "failed", sheet, None, str(failed)
        return "completed", sheet, summary(sheet), path

    def plain(self, sheet: Sheet) -> Plain:
        words, facts = list(sheet.words), dict(sheet.facts)
        return Plain(list(sheet.log), words, sheet.total, facts, sheet.plain, sheet.index)

    def row(self, row: Row, sheet: Plain) -> str:
        done: list[str] = []
        for step in row.steps:
            try:
                done.append(self.nest(step, sheet))
            except Failed as failed:
                done.append(str(failed))
                if row.rescue is None:
                    raise Failed(" > ".join(done)) from None
                done.append(self.nest(row.rescue, sheet))
                break
        return " > ".join([*done, f"{row.id}_end"])

    def nest(self, nest: Nest, sheet: Plain) -> str:
        """Evaluates on a copy, which takes the place of the state if nothing failed."""
        draft = copy.deepcopy(sheet)
        match nest:
            case Leaf():
                path = self.leaf(nest, draft)
            case Row(shared=True):
                path = self.inside(nest, lambda: self.row(nest, draft))
            case Row():
                path = self.own_row(nest, draft)
            case Fan():
                path = self.fan(nest, draft)
            case Items():
                path = self.items(nest, draft)
        sheet.__dict__.update(draft.__dict__)
        return path

    def leaf(self, leaf: Leaf, draft: Plain) -> str:
        self.rounds += leaf.pays
        if leaf.fails == "always" or (leaf.fails == "odd" and draft.index % 2 == 1):
            if leaf.handler is None:
                raise Failed(f"{leaf.id}!")
            return f"{leaf.id}! > {self.nest_of_handler(leaf.handler, draft)}"
        write(draft, leaf)
        return leaf.id

    def nest_of_handler(self, handler: Leaf, draft: Plain) -> str:
        return self.leaf(handler, draft)

    def inside(self, nest: Nest, work: Callable[[], str]) -> str:
        try:
            inner = work()
        except Failed as failed:
            raise Failed(f"{nest.id}!({failed})") from None
        return f"{nest.id}({inner})" if inner else nest.id

    def own_row(self, row: Row, draft: Plain) -> str:
        own = self.plain(into(draft))
        path = self.inside(row, lambda: self.row(row, own))
        out_of(draft, summary(own))
        return path

    def fan(self, fan: Fan, draft: Plain) -> str:
        before, ends, paths = copy.deepcopy(draft), [], []
        for number, branch in enumerate(fan.branches):
            if fan.join != "all" and number not in fan.winners:
                continue
            end = copy.deepcopy(before)
            try:
                paths.append(self.nest(branch, end))
            except Failed as failed:
                raise Failed(f"{fan.id}!({failed})") from None
            ends.append(end)
        for name in ("log", "words", "total", "facts", "plain"):
            old = getattr(before, name)
            values = [value for end in ends if (value := getattr(end, name)) != old]
            setattr(draft, name, _merged(name, old, values))
        return f"{fan.id}({' | '.join(paths)})"

    def items(self, items: Items, draft: Plain) -> str:
        results: list[Any] = []
        paths = []
        for state in items_of(items, draft):
            own = self.plain(state)
            try:
                paths.append(self.row(items.do, own))
                results.append(summary(own))
            except Failed as failed:
                if not items.tolerant:
                    raise Failed(f"{items.id}!({failed})") from None
                paths.append(str(failed))
                results.append(ItemFailure(state.index, None))  # type: ignore[arg-type]
        put_together(draft, results)
        return f"{items.id}({' | '.join(paths)})" if paths else items.id


def _merged(name: str, before: Any, values: list[Any]) -> Any:
    if name in ("log", "words"):
        return [*before, *(item for value in values for item in value[len(before) :])]
    if name == "total":
        return added(before, values) if len(values) > 1 else values[0] if values else before
    if name == "facts":
        return united(before, values) if len(values) > 1 else values[0] if values else before
    assert len(values) < 2
    return values[0] if values else before

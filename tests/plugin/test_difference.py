"""What tells two texts of a run apart: the kind of change and its place, whatever was done to a text by hand."""

from __future__ import annotations

from random import Random

import pytest

from flowcore.testing.difference import diff_lines, difference

TEXT = """\
flow desk
result completed
value "yes"

before round 1
  read
    call model small  3 tokens
    emit found = 1
    + words = ["a"]
    -> fan
  fan
    left  [2 attempts]
      retried after OSError: once
      + log += ["l"]
    right  [not finished]
    -> items
  items
    [0]
      round 1
        solve  [failed]
          error KeyError: 'x'
          -> mend  (error KeyError)
        mend
          -> end
    [1]
      round 1
        solve
          -> end
    -> check
round 1
  check
    -> write  (poor: length = 3, good = False)
round 2
  check#2
    -> end  (good: length = 4)
finish, since rounds ran out
  end
    -> end

used 2 rounds, 1 request
"""
CHANGES = [
    ("desk\n", "table\n", "path", "another flow: was desk, now table"),
    (
        "3 tokens",
        "4 tokens",
        "values",
        "same path, values differ: call model at read: was small  3 tokens, now small  4",
    ),
    ("found = 1", "found = 2", "values", "same path, values differ: emit found at read: was 1, now 2"),
    ('["l"]', '["m"]', "values", 'same path, values differ: state.log at fan/left: was ["l"], now ["m"]'),
    ("    emit found = 1\n", "", "values", "same path, values differ: emit found at read: was 1, now unset"),
    (
        "length = 3",
        "length = 2",
        "values",
        "same path, values differ: why at check: was length = 3, good = False, now",
    ),
    ("(poor:", "(bad:", "route", "same path, another route at check: was write (poor), now write (bad)"),
    (
        "-> mend  ",
        "-> end  ",
        "route",
        "same path, another route at items[0]/solve: was mend (error KeyError), now end",
    ),
    (
        "right  [not finished]",
        "right",
        "path",
        "path changed at step 4: was fan/right [not finished], now fan/right",
    ),
    ("        mend\n          -> end\n", "", "path", "node items[0]/mend missing: it was step 7"),
    ("    [1]\n", "    [2]\n", "path", "path changed at step 8: was items[1]/solve, now items[2]/solve"),
    ("round 2\n", "round 3\n", "path", "path changed at step 10: check#2 was in round 2, now in round 3"),
    (
        "finish, since rounds ran out\n",
        "",
        "path",
        "path changed at step 11: end was in finish, since rounds ran out, now",
    ),
    ("completed", "failed", "result", "result changed: was completed, now failed"),
    ('value "yes"', 'value "no"', "result", 'result changed: value was "yes", now "no"'),
    (
        "2 rounds",
        "3 rounds",
        "values",
        "same path, values differ: used was 2 rounds, 1 request, now 3 rounds, 1 request",
    ),
]


@pytest.mark.behaviour("TEST-2")
@pytest.mark.parametrize(("old", "new", "kind", "words"), CHANGES, ids=[change[3][:40] for change in CHANGES])
def test_a_change_is_told_by_its_kind_and_place(old: str, new: str, kind: str, words: str) -> None:
    found = difference(TEXT, TEXT.replace(old, new, 1))
    assert (found.kind, found.words[: len(words)]) == (kind, words)


def test_a_node_that_is_new_is_told_as_such() -> None:
    less = TEXT.replace("    left  [2 attempts]\n      retried after OSError: once\n", "").replace(
        '      + log += ["l"]\n', ""
    )
    assert difference(less, TEXT).words == "node fan/left is new: it is step 3"


def test_texts_that_were_changed_by_hand_are_told_in_one_line() -> None:
    chance = Random(7)
    lines = TEXT.splitlines()
    for _ in range(2000):
        edited = lines.copy()
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(edited))
            change = chance.choice(["drop", "double", "move", "indent", "garble"])
            if change == "drop" and len(edited) > 1:
                del edited[at]
            elif change == "double":
                edited.insert(at, edited[chance.randrange(len(edited))])
            elif change == "move":
                edited.insert(chance.randrange(len(edited)), edited.pop(at))
            elif change == "indent":
                edited[at] = " " * chance.randrange(9) + edited[at].strip()
            else:
                edited[at] = "".join(chance.sample(edited[at], len(edited[at])))
        text = "\n".join(edited)
        words = difference(TEXT, text).words
        assert words
        assert "\n" not in words
        assert difference(text, TEXT).words
        assert diff_lines(TEXT, text) or edited == lines


def test_only_what_lies_behind_the_first_difference_is_compared() -> None:
    many = "".join(f"  line {number}\n" for number in range(9000))
    lines = diff_lines(many, many.replace("line 8000\n", "line x\n"))
    assert [line for line in lines if line[0] in "+-"][2:] == ["-  line 8000", "+  line x"]
    assert lines[2] == "@@ -7999,5 +7999,5 @@"
    assert diff_lines(many, many.replace("line 10\n", "line x\n"))[-1] == "... compared to line 4008 only"

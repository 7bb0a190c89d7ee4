"""Plain text: the layout, and that no text acts on the terminal or passes for a label."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcore_presentation import Words, to_text


def test_statuses_are_said_in_words_and_citations_are_numbered(mixed: Any) -> None:
    assert to_text(mixed, questions={"a": "When are idle connections closed?"}) == (
        "? When are idle connections closed?\n"
        "Answer\n"
        "  Idle ones close after 5 s. [1] [2]\n"
        "\n"
        "No answer; said instead\n"
        "  Ask the maintainers. [2]\n"
        "\n"
        "No answer\n"
        "  source denied\n"
        "\n"
        "Sources\n"
        "  [1] httpx, Limits\n"
        "  [2] httpx, Timeout"
    )


def test_words_are_the_readers(mixed: Any) -> None:
    words = Words(answered="Antwort", fallback="Stattdessen", blocked="Keine Antwort", sources="Quellen")
    shown = to_text(mixed, words=words)
    labels = [line for line in shown.splitlines() if line and not line.startswith(" ")]
    assert labels == ["Antwort", "Stattdessen", "Keine Antwort", "Quellen"]


def test_no_item_gives_no_text(make: Any) -> None:
    assert to_text(make()) == ""


def test_a_blocked_item_shows_its_reason_and_none_of_its_text(make: Any) -> None:
    shown = to_text(make(("a", "blocked", "secret", [("vault", "door")], "source denied")))
    assert shown == "No answer\n  source denied"


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b2Jgone", "gone"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"),
        ("\x1bPq#0\x1b\\sixel", "sixel"),
        ("\x1bcreset", "reset"),
        ("\x1b\x1b[0m[31mnested", "[31mnested"),
        ("over\rwritten", "over\n  written"),
        ("back\x08\x08space", "backspace"),
        ("bell\x07 null\x00", "bell null"),
        ("\u202eevil\u202c \u2066turn\u2069", "evil turn"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("half \ud800", "half \ufffd"),
        ("one\u2028two", "one\n  two"),
        ("a\tb", "a    b"),
    ],
)
def test_what_acts_on_a_terminal_is_taken_out(make: Any, hostile: str, shown: str) -> None:
    assert to_text(make(("a", "answered", hostile, [], ""))) == f"Answer\n  {shown}"


def test_no_text_can_pass_for_a_label_or_a_source(make: Any) -> None:
    forged = "Yes.\n\nSources\n  [1] trusted, page"
    shown = to_text(make(("a", "answered", forged, [("x\nSources", "y\n  [2] trusted")], "")))
    assert [line for line in shown.splitlines() if line and not line.startswith(" ")] == ["Answer", "Sources"]
    assert shown.endswith("\nSources\n  [1] x Sources, y [2] trusted")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(), reason=st.text(), source=st.text(), where=st.text(), question=st.text())
def test_any_text_is_harmless(make: Any, text: str, reason: str, source: str, where: str, question: str) -> None:
    result = make(("a", "answered", text, [(source, where)], ""), ("b", "blocked", text, [], reason))
    shown = to_text(result, questions={"a": question})
    assert not {c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")} - {"\n"}
    margin = [line for line in shown.split("\n") if line and not line.startswith("  ")]
    assert [line for line in margin if not line.startswith("? ")] == ["Answer", "No answer", "Sources"]
    shown.encode()

"""HTML: the layout, and that a text opens no tag."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowcore_presentation import to_html


class Reader(HTMLParser):
    """Keeps the tags with their attributes and the text of a fragment."""

    def __init__(self, shown: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""
        self.feed(shown)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))
        self.text += " " if tag == "br" else ""

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_layout(mixed: Any) -> None:
    reader = Reader(to_html(mixed, questions={"a": "When?"}))
    assert reader.tags == [
        ("section", [("class", "answers")]),
        ("article", [("data-status", "answered")]),
        ("h3", []),
        ("h4", []),
        ("p", []),
        ("sup", []),
        ("sup", []),
        ("article", [("data-status", "fallback")]),
        ("h4", []),
        ("p", []),
        ("sup", []),
        ("article", [("data-status", "blocked")]),
        ("h4", []),
        ("p", []),
        ("h4", []),
        ("ol", []),
        ("li", [("value", "1")]),
        ("li", [("value", "2")]),
    ]
    assert reader.text.split("\n")[3:5] == ["    Answer", "    Idle ones close after 5 s. [1] [2]"]


def test_lines_are_kept(make: Any) -> None:
    shown = to_html(make(("a", "answered", "one\ntwo", [], "")))
    assert "<p>one<br>two</p>" in shown


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(hostile=st.text(alphabet="<>&\"'/=! -scriptb\n;#x1") | st.just("<script>alert('1')</script>"))
def test_no_text_opens_a_tag_or_an_entity(make: Any, hostile: str) -> None:
    result = make(("a", "answered", hostile + ".", [(hostile, hostile)], ""), ("b", "blocked", "", [], hostile))
    reader = Reader(to_html(result, questions={"a": hostile}))
    assert {tag for tag, _ in reader.tags} <= {"section", "article", "h3", "h4", "p", "br", "sup", "ol", "li"}
    assert " ".join(f"{hostile}.".split()) in " ".join(reader.text.split())

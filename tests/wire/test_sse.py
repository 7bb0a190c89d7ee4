"""Server-sent events are read alike wherever their bytes are split, and written so that they read back."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai._streaming import SSEDecoder

from flowcore.wire import ServerEvent, SseReader, write_comment, write_event

ENDS = st.sampled_from(["\n", "\r", "\r\n"])
VALUES = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=12)
WORDS = st.text(st.sampled_from("aé€😀 :"), min_size=1, max_size=8).map(str.strip).filter(bool)
LINES = st.one_of(
    VALUES.map("data: {}".format),
    VALUES.map("data:{}".format),
    WORDS.map("event: {}".format),
    st.just("data"),
    VALUES.map(": {}".format),
    VALUES.map("other: {}".format),
)
STREAMS = st.lists(st.tuples(st.lists(LINES, max_size=4), VALUES), max_size=5)


def written(events: list[tuple[list[str], str]], end: str) -> bytes:
    """Returns a stream of events, each of some lines and one of data."""
    lines = [line for some, data in events for line in (*some, f"data: {data}", "")]
    return "".join(line + end for line in lines).encode()


def read(*parts: bytes) -> list[ServerEvent]:
    reader = SseReader()
    events = [event for part in parts for event in reader.feed(part)]
    return events + reader.close()


@pytest.mark.behaviour("MODEL-1")
@given(STREAMS, ENDS)
def test_split_at_any_byte_it_reads_the_same(events: list[tuple[list[str], str]], end: str) -> None:
    data = written(events, end)
    whole = read(data)

    assert len(whole) == len(events)
    assert read(*(data[place : place + 1] for place in range(len(data)))) == whole
    for place in range(len(data) + 1):
        assert read(data[:place], data[place:]) == whole


@pytest.mark.behaviour("MODEL-1")
@given(STREAMS, ENDS, st.lists(st.integers(0, 300)))
def test_split_anywhere_often_it_reads_what_another_reader_reads(
    events: list[tuple[list[str], str]], end: str, places: list[int]
) -> None:
    data = written(events, end)
    cuts = [0, *sorted(place for place in places if place < len(data)), len(data)]
    parts = [data[start:stop] for start, stop in itertools.pairwise(cuts)]

    theirs = [(one.event or "message", one.data) for one in SSEDecoder().iter_bytes(iter([data]))]
    assert [(one.event, one.data) for one in read(*parts)] == theirs


@given(st.text(), VALUES.filter(lambda text: text == text.strip()), st.integers(0, 10**6))
def test_what_is_written_reads_back(data: str, name: str, retry: int) -> None:
    data = data.encode(errors="replace").decode()
    lines = data.replace("\r\n", "\n").replace("\r", "\n")

    assert read(write_event(data, event=name, id=name, retry=retry)) == [
        ServerEvent(lines, name or "message", name, retry)
    ]
    assert read(write_comment(data), write_event(data)) == [ServerEvent(lines)]


def test_a_byte_order_mark_is_left_out_once() -> None:
    mark = b"\xef\xbb\xbf"
    assert read(mark[:1], mark[1:] + b"data: a\n\n" + mark + b"data: b\n\ndata: c\n\n") == [
        ServerEvent("a"),
        ServerEvent("c"),
    ]


def test_fields_are_read_as_the_standard_has_them() -> None:
    stream = (
        b"id: 1\nretry: 20\ndata:  two\ndata: lines\n\n: only this\nevent: none\n\nid: 2\0\nretry: 1s\ndata\n\n"
    )
    assert read(stream) == [ServerEvent(" two\nlines", id="1", retry=20), ServerEvent("", id="1")]


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert read(b"data: a\xffb\n\n") == [ServerEvent("a\ufffdb")]


def test_an_event_without_its_empty_line_is_given_at_the_end_and_a_cut_line_is_dropped() -> None:
    reader = SseReader()
    assert reader.feed(b"data: [DONE]\ndata: cut") == []
    assert reader.close() == [ServerEvent("[DONE]")]
    assert reader.close() == []


@pytest.mark.parametrize("size", [1, 7, 200])
@pytest.mark.parametrize("stream", [b"data: " + b"x" * 100, b"data: 12345\n" * 9, b": " + b"y" * 100 + b"\n"])
def test_an_event_beyond_the_limit_is_refused_in_pieces_of_any_size(stream: bytes, size: int) -> None:
    reader = SseReader(limit=64)

    def feed() -> None:
        for place in range(0, len(stream), size):
            reader.feed(stream[place : place + size])

    with pytest.raises(ValueError, match=r"^an event of the stream is larger than 64 bytes$"):
        feed()


def test_events_within_the_limit_may_go_on_for_ever() -> None:
    reader = SseReader(limit=16)
    assert sum(len(reader.feed(b": still here\n\ndata: 12345\n\n")) for _ in range(1_000)) == 1_000


@pytest.mark.parametrize("name", ["event", "id"])
def test_a_name_of_several_lines_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^the {name} of an event is one line"):
        write_event("data", **{name: "two\nlines"})

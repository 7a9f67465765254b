from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from benchmark.sse import EventSplitter

RECORDINGS = Path(__file__).parents[1] / "data" / "vllm"
STREAM = (RECORDINGS / "chat-stream.txt").read_bytes().partition(b"\r\n\r\n")[2]


def split(pieces: list[bytes]) -> list[bytes]:
    splitter = EventSplitter()
    return [event for piece in pieces for event in splitter.feed(piece)]


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[a:b] for a, b in pairwise(edges)]


def test_a_recorded_stream_has_its_ten_chunks_and_its_end() -> None:
    events = split([STREAM])
    assert len(events) == 11
    assert events[-1] == b"[DONE]"
    assert all(event.startswith(b'{"id":"chatcmpl-') for event in events[:-1])


@given(st.lists(st.integers(min_value=0), max_size=40))
def test_the_recorded_stream_gives_the_same_events_however_it_is_split(places: list[int]) -> None:
    assert split(cut(STREAM, places)) == split([STREAM])


@given(
    st.lists(st.sampled_from([b"data: a", b"data:b", b"data", b"x", b": hm", b"id: 1", b"\r", b"\n", b"\r\n"])),
    st.lists(st.integers(min_value=0), max_size=20),
)
def test_any_stream_gives_the_same_events_however_it_is_split(parts: list[bytes], places: list[int]) -> None:
    stream = b"".join(parts)
    whole = split([stream])
    assert split(cut(stream, places)) == whole
    assert split([bytes([byte]) for byte in stream]) == whole


@given(
    st.lists(st.binary(min_size=1).filter(lambda data: not set(data) & set(b"\r\n")), max_size=8),
    st.sampled_from([b"\n", b"\r", b"\r\n"]),
)
def test_what_was_sent_comes_out(payloads: list[bytes], end: bytes) -> None:
    stream = b"".join(b"data: " + payload + end + end for payload in payloads)
    assert split([stream]) == payloads


def test_lines_of_one_event_are_joined_and_other_fields_are_skipped() -> None:
    assert split([b": ping\n\nevent: x\ndata: a\nid: 4\ndata:  b\n\ndata\n\n"]) == [b"a\n b", b""]


def test_an_event_without_its_blank_line_is_not_delivered() -> None:
    assert split([b"data: a\n\ndata: half"]) == [b"a"]

"""Server-sent events cut out of a byte stream, wherever its pieces happen to be split."""


class EventSplitter:
    """Collects bytes and yields the `data` of each event once its blank line has arrived.

    Follows the WHATWG rules that matter here: lines end in LF, CRLF or CR; several `data` lines of one event
    are joined by LF; comments and other fields are skipped; an event that never gets its blank line is never
    delivered.
    """

    def __init__(self) -> None:
        self._tail = b""
        self._skip_lf = False
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[bytes]:
        """Take the next piece of the stream and return the data of every event that it completed."""
        if not piece:
            return []
        if self._is_plain(piece):
            return [piece[6:-2]]
        if self._skip_lf and piece.startswith(b"\n"):
            piece = piece[1:]
        # A CR ends its line at once; if it was half of a CRLF, the LF opens the next piece and is dropped
        # there.
        self._skip_lf = piece.endswith(b"\r")
        events: list[bytes] = []
        lines = (self._tail + piece).splitlines(keepends=True)
        self._tail = b"" if not lines or lines[-1].endswith((b"\n", b"\r")) else lines.pop()
        for line in lines:
            content = line.rstrip(b"\r\n")
            if content:
                self._field(content)
            elif self._data:
                events.append(b"\n".join(self._data))
                self._data = []
        return events

    def _is_plain(self, piece: bytes) -> bool:
        """Say whether a piece is one whole event of one line, as nearly all are; nothing may wait from before it."""
        return (
            not (self._tail or self._skip_lf or self._data)
            and piece.startswith(b"data: ")
            and piece.find(b"\n") == len(piece) - 2
            and piece.endswith(b"\n\n")
            and b"\r" not in piece
        )

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))

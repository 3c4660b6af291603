"""Files that real programs wrote, damaged in ways that happen: bits, cuts, repeats, foreign pieces; and noise."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

#: Pieces that parsers tend to stumble over.
ODD: tuple[bytes, ...] = (
    *(b"-1", b"0", b"1e999", b"nan", b"-nan", b"inf", b"9" * 19, b"9" * 40, b"0x", b"1.0.0", b"\xc2\xb2", b"\0"),
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\n\n", b"\r", b"\r\n", b"\x0b", b"\x1c", b"\x85", b"\xc2\xa0", b"\xe2\x80\xa8"),
    *(b'"', b"'", b"{}", b"[", b"]", b"null", b"true", b"\\ud800", b"\xed\xa0\x80", b",,,,,,", b";;;;", b"%=", b"#"),
    *(b"18446744073709551616", b"9223372036854775807", b"4294967296", b"-9223372036854775809", b"1_000", b"+5", b"1e5"),
    *(b"th=[", b"(g=0): rw=", b"[global]\n", b" wait 5 0\n", b"trim", b"Average:", b"Device r/s w/s\n", b"\t", b"  "),
)
#: Deeper or longer than any real file.
LONG: tuple[bytes, ...] = (
    *(b"[" * 3000, b'{"jobs":' * 300, b"9" * 5000, b"9" * 60_000, b" " * 60_000, b"x" * 70_000, b"a.b." * 1000),
    *(b"1," * 5000, b"1 " * 5000, b"1;" * 5000, b'"' * 5000, b":" * 5000, b"=" * 5000, b"(" * 5000, b"[a]\n" * 500),
    *(b"\n" * 5000, b"\t" * 60_000, b"-" * 5000, b"# " * 5000, b"1.0e" * 1000),
)


def damaged(choose: Random, seeds: Sequence[bytes], odd: Sequence[bytes] = ODD) -> bytes:
    """One of `seeds` with a few pieces cut, repeated, replaced or overwritten; or, one time in twenty, plain noise."""
    if choose.random() < 0.05:
        return choose.randbytes(choose.randrange(300))
    data = bytearray(choose.choice(seeds))
    for _ in range(choose.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        place = choose.randrange(len(data) + 1)
        end = min(place + choose.choice((0, 1, 1, 2, 3, 8, 20, 60)), len(data))
        how = choose.randrange(16)
        if how < 3:
            data[place:end] = b""
        elif how < 5:
            data[place:place] = data[place:end]
        elif how < 9:
            data[place:end] = choose.choice(odd)
        elif how < 11:
            data[place:end] = choose.randbytes(choose.randrange(1, 20))
        elif how < 13 and place < len(data):
            data[place] ^= 1 << choose.randrange(8)
        elif how < 14:
            other = choose.choice(seeds)
            data[place:end] = other[choose.randrange(len(other) + 1) :][:60]
        elif how < 15:
            _swap_lines(choose, data)
        elif choose.random() < 0.1:
            data[place:end] = choose.choice(LONG)
        else:
            del data[place:]
    return bytes(data)


def _swap_lines(choose: Random, data: bytearray) -> None:
    lines = data.split(b"\n")
    a, b = choose.randrange(len(lines)), choose.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    data[:] = b"\n".join(lines)


def as_text(data: bytes) -> str:
    """As a reader of text sees it."""
    return data.decode("utf-8", errors="replace")

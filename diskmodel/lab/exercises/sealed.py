"""Solutions that only a key opens, in a file that students have, too.

The page of a class has to open them in a browser without a server. So a text is mixed with a stream of HMAC-SHA-256
under a key derived from the teacher's word, and has a mark by which a wrong word is noticed. A browser can compute
all of that by itself (WebCrypto).
"""

from __future__ import annotations

import base64
import hashlib
import hmac

#: Rounds of the derivation (PBKDF2): half a second in a browser. At a tenth a short word is guessed ten times as fast.
ROUNDS = 300_000
_BLOCK, _MARK = 32, 16


def derived(word: str, salt: str) -> bytes:
    """Return the key of a word for one page."""
    return hashlib.pbkdf2_hmac("sha256", word.encode(), salt.encode(), ROUNDS)


def seal(text: str, key: bytes, label: str) -> str:
    """Return `text` sealed, in base 64; `label` differs for each text of a page."""
    plain = text.encode()
    stream = b"".join(_hmac(key, f"{label}/{at}") for at in range(-(-len(plain) // _BLOCK)))
    mixed = bytes(a ^ b for a, b in zip(plain, stream, strict=False))
    return base64.b64encode(_mark(key, label, mixed) + mixed).decode()


def unseal(sealed: str, key: bytes, label: str) -> str | None:
    """Return the text; None with another key."""
    data = base64.b64decode(sealed)
    mark, mixed = data[:_MARK], data[_MARK:]
    if not hmac.compare_digest(mark, _mark(key, label, mixed)):
        return None
    stream = b"".join(_hmac(key, f"{label}/{at}") for at in range(-(-len(mixed) // _BLOCK)))
    return bytes(a ^ b for a, b in zip(mixed, stream, strict=False)).decode()


def _mark(key: bytes, label: str, mixed: bytes) -> bytes:
    return hmac.new(key, f"{label}/mark/".encode() + mixed, hashlib.sha256).digest()[:_MARK]


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()

"""Refuse documents that would take more memory than they are worth, before a parser builds objects from them.

A parser of TOML or JSON turns two characters into an object of 64 bytes or more, and one of TOML takes memory that
grows with the square of the depth of a dotted key. What is counted here is counted in the text, in time and memory that
grow with its length only.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

#: Parts of a dotted key of TOML. Descriptions need 5; tomllib needs some n^2 * 4 bytes for n parts: 4 KB at 32.
MAX_KEY_PARTS = 32
#: Keys and tables of a TOML file, and its values with the elements of lists. The largest profiles have some 10,000
#: values; at these limits the parsed file takes some 200 MB.
MAX_KEYS = 100_000
MAX_TOML_VALUES = 1_000_000
#: Objects and lists of a JSON document, of at least 56 bytes each; fio's largest have some 10,000. And its values, of
#: up to 40 bytes each: a measurement of eight million requests has 32 million.
MAX_OBJECTS = 1_000_000
MAX_VALUES = 8_000_000
MAX_MEASUREMENT_VALUES = 48_000_000

#: Seeds are 64 bits: more digits would be cut off, and two seeds would give one answer.
MAX_SEED = 2**64 - 1

# What may contain anything: strings of four kinds, and comments.
_STRINGS = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*+'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*+'"
    r"|#[^\n]*+",
    re.DOTALL,
)
_DEEP_KEY = re.compile(rf'(?:[\w-]++|"")(?:[ \t]*+\.[ \t]*+(?:[\w-]++|"")){{{MAX_KEY_PARTS}}}')


def parse_toml(text: str) -> dict[str, Any]:
    """Return the data of a TOML text.

    Raises
    ------
    ValueError, RecursionError
        When it is not TOML, or beyond the limits of this module.
    """
    bare = _STRINGS.sub(lambda found: "" if found[0].startswith("#") else '""', text)
    if deep := _DEEP_KEY.search(bare):
        line = bare.count("\n", 0, deep.start()) + 1
        raise ValueError(f"a key has more than {MAX_KEY_PARTS} parts (line {line})")
    if (n_keys := bare.count("=") + bare.count("[")) > MAX_KEYS:
        raise ValueError(f"it has {n_keys} keys and tables, more than {MAX_KEYS}")
    if (n_values := bare.count(",")) > MAX_TOML_VALUES:
        raise ValueError(f"it has {n_values} values, more than {MAX_TOML_VALUES}")
    return tomllib.loads(text)


def check_json(text: str, max_values: int = MAX_VALUES) -> None:
    """Refuse a JSON text with too many objects or values.

    Raises
    ------
    ValueError
        When it is beyond the limits of this module.
    """
    n_objects = text.count("{") + text.count("[")
    if n_objects > MAX_OBJECTS:
        raise ValueError(f"it has {n_objects} objects and lists, more than {MAX_OBJECTS}")
    n_values = text.count(",")
    if n_values > max_values:
        raise ValueError(f"it has {n_values} values, more than {max_values}")


def parse_json(text: str, max_values: int = MAX_VALUES) -> Any:
    """Return the data of a JSON text.

    Raises
    ------
    ValueError, RecursionError
        When it is not JSON, or beyond the limits of this module.
    """
    check_json(text, max_values)
    return json.loads(text)

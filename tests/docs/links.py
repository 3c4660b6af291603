"""Dead links of a built site: `python -m tests.docs.links site` lists them, and fails where there are any."""

from __future__ import annotations

import os
import re
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that name files, and the elements whose links a reader or a browser follows.
_LINKS = {"a": "href", "img": "src", "iframe": "src", "link": "href", "script": "src", "source": "src"}
#: Parts of addresses that the lab and pages of exercises read as settings, not as places.
_SETTINGS = ("=", "__tabbed")


#: Comments, and what is no HTML between its tags.
_NO_HTML = re.compile(r"<!--.*?-->|(<(script|style|textarea|title)\b[^>]*>).*?</\2\s*>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"""<(\w+)\s((?:[^<>"']|"[^"]*"|'[^']*')*)>""")
_ATTRIBUTE = re.compile(r"""(?<![\w-])(id|name|href|src)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


class _Page:
    """Links of a page, and places in it: by patterns, in a quarter of the time of a parser."""

    def __init__(self, text: str) -> None:
        self.links: list[str] = []
        self.places: set[str] = set()
        for tag, attributes in _TAG.findall(_NO_HTML.sub(lambda match: match[1] or "", text)):
            found = {key: unescape("".join(values)) for key, *values in _ATTRIBUTE.findall(attributes)}
            self.places |= {value for key in ("id", "name") if (value := found.get(key))}
            if target := found.get(_LINKS.get(tag.lower(), "")):
                self.links.append(target)


def dead_links(site: Path) -> list[str]:
    """Return page and link of each relative link that leads to no file, or to no place of its page."""
    site = site.resolve()
    pages = {str(path): _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    files = {str(path) for path in site.rglob("*") if path.is_file()}
    dead = []
    for path, page in pages.items():
        # it is shown at addresses that are not known
        if os.path.basename(path) == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path))) if parts.path else path
            if target not in files:
                target = os.path.join(target, "index.html")
            place = unquote(parts.fragment)
            known = pages.get(target)
            is_place = not place or any(mark in place for mark in _SETTINGS) or known is None or place in known.places
            if target not in files or not is_place:
                dead.append(f"{os.path.relpath(path, site)}: {link}")
    return dead


if __name__ == "__main__":
    found = dead_links(Path(sys.argv[1]))
    print("\n".join(found) or f"{sys.argv[1]}: no dead link")
    sys.exit(bool(found))

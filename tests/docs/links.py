"""Dead links of a built site: `python -m tests.docs.links site` lists them, and fails where there are any."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that name files, and the elements whose links a reader or a browser follows.
_LINKS = {"a": "href", "img": "src", "iframe": "src", "link": "href", "script": "src", "source": "src"}
#: Parts of addresses that the lab and pages of exercises read as settings, not as places.
_SETTINGS = ("=", "__tabbed")


class _Page(HTMLParser):
    """Links of a page, and places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.places |= {value for key in ("id", "name") if (value := found.get(key))}
        if target := found.get(_LINKS.get(tag, "")):
            self.links.append(target)


def dead_links(site: Path) -> list[str]:
    """Return page and link of each relative link that leads to no file, or to no place of its page."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    dead = []
    for path, page in pages.items():
        # it is shown at addresses that are not known
        if path.name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            target = target / "index.html" if target.is_dir() else target
            place = unquote(parts.fragment)
            known = pages.get(target.relative_to(site.resolve()) and site / target.relative_to(site.resolve()))
            is_place = not place or any(mark in place for mark in _SETTINGS) or known is None or place in known.places
            if not (target.is_file() and is_place):
                dead.append(f"{path.relative_to(site)}: {link}")
    return dead


if __name__ == "__main__":
    found = dead_links(Path(sys.argv[1]))
    print("\n".join(found) or f"{sys.argv[1]}: no dead link")
    sys.exit(bool(found))

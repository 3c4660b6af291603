"""A real browser for the pages: Debian's Chromium, driven by Playwright. Every page is watched while a test uses it."""

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from diskmodel.lab.server import warm_up
from diskmodel.lab.site import files
from tests.unit.lab.serving import serving
from tests.unit.lab.site.node import find_kernel

#: Where screenshots are kept.
PICTURES = Path(os.environ.get("DISKMODEL_PICTURES", "out/pictures"))
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str:
    """Chromium's path, or skip; fail where a browser is required."""
    named = os.environ.get("DISKMODEL_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if named:
        return named
    reason = f"no browser: none of {', '.join(NAMES)} is installed (Debian: apt-get install chromium)"
    if os.environ.get("DISKMODEL_REQUIRE_BROWSER") == "1":
        pytest.fail(f"{reason}, but DISKMODEL_REQUIRE_BROWSER=1", pytrace=False)
    pytest.skip(reason)


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One browser is enough: where tests are spread over processes, these stay together."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = find_chromium()
    # the browser refuses to run as root inside its own sandbox
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        # other tests run at the same time
        expect.set_options(timeout=30_000)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def lab(browser: Browser) -> Iterator[str]:
    """Address of a running lab that gives quick answers only."""
    warm_up()
    with serving() as url:
        yield url + "?refine=no"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab of the site, as plain files."""
    made = files(find_kernel())
    folder = tmp_path_factory.mktemp("site") / "lab"
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def page_url(folder: Path) -> str:
    """The page on disk; a longer run does not follow."""
    return (folder / "index.html").as_uri() + "?refine=no"


@pytest.fixture
def served(folder: Path) -> Iterator[str]:
    """Address of the lab of the site on a server that knows nothing of it."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


@dataclass
class Watch:
    """What the pages of a test did beside what it looked at."""

    errors: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Errors of the pages, which a test may take out that it provoked; whatever is left fails it."""
    watched = Watch()
    yield watched
    assert watched.errors == []
    away = [
        url
        for url in watched.addresses
        if not url.startswith(("http://127.0.0.1:", "file://", "data:", "about:", "blob:"))
    ]
    assert away == [], "nothing leaves this machine"


Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, watch: Watch) -> Iterator[Open]:
    """Opens an address in a fresh window: `opened(url, width=…, dark=…)`."""
    contexts = []

    def open_page(url: str, *, width: int = 1280, height: int = 900, dark: bool = False, **options: Any) -> Page:
        scheme = "dark" if dark else "light"
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda said: watch.errors.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: watch.errors.append(str(error)))
        page.on("request", lambda request: watch.addresses.append(request.url))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[..., Path]:
    """Keeps a screenshot of a page under the test's name."""

    def keep(page: Page, suffix: str = "") -> Path:
        PICTURES.mkdir(parents=True, exist_ok=True)
        name = "".join(c if c.isalnum() else "-" for c in request.node.name.removeprefix("test_") + suffix).strip("-")
        path = PICTURES / f"{name}.png"
        page.screenshot(path=path, full_page=True)
        assert path.stat().st_size > 5_000
        return path

    return keep

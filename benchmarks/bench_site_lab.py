"""What a reader of a lesson waits for: its download, its first curve, and a step of a slider, in Chromium.

Run: make docs, then python benchmarks/bench_site_lab.py [--rounds N] (needs playwright and Chromium)

Times on the clock are the reader's, on a machine with nothing else to do. Processor time is of all processes of the
browser together, so it hardly depends on what else the machine does.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from diskmodel.lab.site import files

TARGET_BYTES, TARGET_FIRST_MS, TARGET_STEP_MS = 1_000_000, 1000.0, 100.0
#: A lesson's experiment; quick curves only, as while a slider moves.
LESSON = "index.html?only=read_ratio,size_bytes,drive&refine=no#drive=generic-7k2&level=jbod&disks=1"
_SHOWN = "(({ shown, asked }) => shown !== undefined && shown === asked)(document.documentElement.dataset)"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def processor_s(marker: str) -> float:
    """Return the processor time of all processes that name `marker` in their command line, or descend from one."""
    parents, used, named = {}, {}, set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
            command = (process / "cmdline").read_text()
        except OSError:
            continue
        pid = int(process.name)
        parents[pid], used[pid] = int(fields[1]), int(fields[11]) + int(fields[12])
        if marker in command:
            named.add(pid)
    for pid in list(parents):
        chain, one = [], pid
        while one in parents and one not in named:
            chain.append(one)
            one = parents[one]
        if one in named:
            named.update(chain)
    return sum(used[pid] for pid in named) / os.sysconf("SC_CLK_TCK")


def shown(page: Page) -> None:
    """Wait until the curve of the last change is drawn."""
    page.wait_for_function(_SHOWN, polling=5)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=5)
    rounds = options.parse_args().rounds
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no Chromium is installed")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files().items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text) if isinstance(text, bytes) else path.write_text(text, encoding="utf-8")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/{LESSON}"
        marker = f"{folder}/profile"
        n_bytes, first_ms, first_s, step_ms, step_s = 0, [], [], [], []
        with sync_playwright() as playwright:
            for _ in range(rounds):
                # a new profile: nothing is cached
                context = playwright.chromium.launch_persistent_context(
                    tempfile.mkdtemp(prefix="profile", dir=folder), executable_path=chromium, args=["--no-sandbox"]
                )
                page = context.new_page()
                before = processor_s(marker)
                page.goto(address, wait_until="commit")
                shown(page)
                first_ms.append(page.evaluate("performance.now()"))
                first_s.append(processor_s(marker) - before)
                n_bytes = page.evaluate(
                    "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
                    ".reduce((sum, one) => sum + one.decodedBodySize, 0)"
                )
                page.focus("#set-read_ratio")
                for _ in range(10):
                    before = processor_s(marker)
                    page.keyboard.press("ArrowLeft")
                    shown(page)
                    step_ms.append(float(page.evaluate("document.documentElement.dataset.answerMs")))
                    time.sleep(0.05)
                    step_s.append(processor_s(marker) - before)
                context.close()
        server.shutdown()
    print(f"download {n_bytes / 1e6:.2f} MB (target {TARGET_BYTES / 1e6:.0f})")
    print(
        f"first curve {statistics.median(first_ms):.0f} ms after the request (target {TARGET_FIRST_MS:.0f}), "
        f"{1e3 * statistics.median(first_s):.0f} ms of processor time"
    )
    print(
        f"step of a slider {statistics.median(step_ms):.0f} ms (target {TARGET_STEP_MS:.0f}), "
        f"{1e3 * statistics.mean(step_s):.0f} ms of processor time, with drawing"
    )


if __name__ == "__main__":
    main()

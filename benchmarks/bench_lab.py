"""Time from a change of the lab's settings to its quick answer, over HTTP, as a browser would ask.

Run: make bench, or python benchmarks/bench_lab.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import threading
import time
import urllib.request
from typing import Any

from diskmodel.engine import _kernel
from diskmodel.lab.server import listen, server, url_of, warm_up

#: What a reader may set; each alone, the rest at its default.
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"read_ratio": 0.0},
    {"read_ratio": 1.0},
    {"size_bytes": 512},
    {"size_bytes": 1 << 20},
    {"pattern": "sequential"},
    {"pattern": "zipf"},
    {"arrivals": "rate", "rate_per_s": 400},
    {"outstanding": 256},
    {"drive": "generic-7k2"},
    {"drive": "generic-sas-ssd"},
    {"level": "raid10"},
    {"level": "raid6", "read_ratio": 0.0},
    {"level": "jbod", "disks": 1, "scheduler": "sptf"},
    {"disks": 64},
    {"scheduler": "mq-deadline"},
    {"scheduler": "look"},
    {"read_hit_ratio": 0.8},
    {"write_cache_bytes": 256 << 20},
    {"drive_write_cache": True},
)
TARGET_MS = 200.0


def asked(url: str, settings: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """Milliseconds and the answer."""
    request = urllib.request.Request(f"{url}curve", data=json.dumps(settings).encode())
    started = time.perf_counter()
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    return 1e3 * (time.perf_counter() - started), json.loads(text)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=10)
    rounds = options.parse_args().rounds
    if _kernel.IS_DEBUG_BUILD:
        sys.exit("the kernel is a debug build: make build")
    sock, lab = listen(), server()
    warm_up()
    thread = threading.Thread(target=lab.run, kwargs={"sockets": [sock]})
    thread.start()
    url, cpu = url_of(sock), time.process_time()
    times: list[float] = []
    try:
        for change in CHANGES:
            answers = [asked(url, change) for _ in range(rounds)]
            own = [ms for ms, _ in answers]
            times += own
            result = answers[0][1]
            print(
                f"{statistics.median(own):6.0f} ms (slowest {max(own):4.0f})  {result['engine']}, "
                f"{result['n_requests']:,} requests, {len(result['points'])} loads  {change or 'defaults'}"
            )
    finally:
        lab.should_exit = True
        thread.join()
    p95 = statistics.quantiles(times, n=20)[-1]
    busy = 1e3 * (time.process_time() - cpu) / len(times)
    wall = f"median {statistics.median(times):.0f} ms, p95 {p95:.0f} ms (target {TARGET_MS:.0f} ms)"
    print(f"all {len(times)}: {wall}; {busy:.0f} ms of processor time each")


if __name__ == "__main__":
    main()

"""Rate of the kernel as WebAssembly under Node, as a share of the native kernel's, for the same requests.

Run: make wasm, then python benchmarks/bench_wasm.py [--requests N] [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

from diskmodel import Array, Workload
from diskmodel.engine import _kernel, native
from diskmodel.engine.scenario import resolve
from diskmodel.lab.site.pages import KERNEL, bundled
from diskmodel.lab.site.tables import to_plain

CASES = {
    "one 7.2k disk, random reads": ({"level": "jbod", "disks": 1}, "generic-7k2", {"read_ratio": 1, "clients": 4}),
    "RAID 5 of eight 15k disks": ({"level": "raid5", "disks": 8}, "generic-15k", {"read_ratio": 0.7, "clients": 16}),
    "RAID 6, one disk failed": ({"level": "raid6", "disks": 12, "failed": [0]}, "generic-10k", {"clients": 32}),
    "RAID 10 of four SSDs": ({"level": "raid10", "disks": 4}, "generic-sas-ssd", {"read_ratio": 0.5, "clients": 64}),
}
TARGET = 0.5
_PROGRAM = """
const fs = require("fs"), { code, wasm, rounds, cases } = JSON.parse(fs.readFileSync(0, "utf8")), modules = eval(code);
(async () => {
  const kernel = await modules["kernel.js"].Kernel.from(fs.readFileSync(wasm));
  console.log(JSON.stringify(cases.map(({ array, requests, streams }) => {
    const kept = kernel.keep(array);
    return Array.from({ length: rounds }, () => {
      const started = performance.now();
      kernel.run(kept, { streams }, requests);
      return performance.now() - started;
    });
  })));
})();
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--requests", type=int, default=10_000)
    options.add_argument("--rounds", type=int, default=40)
    asked = options.parse_args()
    if _kernel.IS_DEBUG_BUILD:
        sys.exit("the kernel is a debug build: make build")
    if not KERNEL.is_file():
        sys.exit(f"{KERNEL} is missing: make wasm")
    native_ms, cases = [], []
    for layout, drive, workload in CASES.values():
        array = Array.parse({"drive": drive, "layout": layout})
        load = Workload.parse({"size": "8 KiB", **workload})
        scenario = resolve(array, 1)
        requests = load.requests(capacity_bytes=array.usable_bytes, n=asked.requests, seed=1)
        times = []
        for _ in range(asked.rounds):
            started = time.perf_counter()
            native.run(scenario, requests)
            times.append(1e3 * (time.perf_counter() - started))
        native_ms.append(min(times))
        columns = {
            "n": len(requests),
            "whenNs": requests.when_ns,
            "offset": requests.offset,
            "length": requests.length,
            "cacheDraw": requests.cache_draw,
            "stream": requests.stream,
            "op": requests.op,
        }
        streams = native.streams_of(requests.streams)
        cases.append(to_plain({"array": native.array_of(scenario), "requests": columns, "streams": streams}))
    sent = {"code": bundled("worker.js"), "wasm": str(KERNEL), "rounds": asked.rounds, "cases": cases}
    done = subprocess.run(["node", "-e", _PROGRAM], input=json.dumps(sent), capture_output=True, text=True, check=True)
    print(f"{KERNEL.stat().st_size:,} bytes; {asked.requests:,} requests a run, the fastest of {asked.rounds}")
    ratios = []
    for name, mine, times in zip(CASES, native_ms, json.loads(done.stdout), strict=True):
        theirs = min(times)
        ratios.append(mine / theirs)
        print(f"{name:30} native {mine:7.1f} ms   wasm {theirs:7.1f} ms   rate {mine / theirs:5.0%} of native")
    if min(ratios) < TARGET:
        sys.exit(f"below {TARGET:.0%} of the native rate")


if __name__ == "__main__":
    main()

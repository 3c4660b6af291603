"""The kernel as WebAssembly gives the completions of the native one, to the nanosecond, for the kept scenarios."""

import json

import pytest

from tests.differential.json_scenarios import SEEDS, path_of
from tests.unit.lab.site.node import in_node

_RUN = """async (modules, kept, bytes) => {
  const kernel = await modules["kernel.js"].Kernel.from(bytes);
  return Promise.all(kept.map(async ({ array, requests: r }) => {
    const columns = { n: r.op.length, whenNs: r.when_ns, offset: r.offset, length: r.length, cacheDraw: r.cache_draw,
      stream: r.stream, op: r.op };
    return kernel.run(kernel.keep(array), { streams: r.streams }, columns);
  }));
}"""


def test_completions_are_those_of_the_native_kernel() -> None:
    kept = [json.loads(path_of(name).read_text()) for name in SEEDS]
    found = in_node(_RUN, kept, with_kernel=True)
    assert len(found) == len(SEEDS)
    for name, scenario, run in zip(SEEDS, kept, found, strict=True):
        want = scenario["completions"]
        assert run["parts"] == want["parts"], name
        got = {
            "issue_ns": run["issueNs"],
            "done_ns": run["doneNs"],
            "parts_ns": run["partsNs"],
            "is_hit": [bool(hit) for hit in run["isHit"]],
            "end_ns": run["endNs"],
        }
        assert got == {key: value for key, value in want.items() if key != "parts"}, name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"depth": 0}, "depth=0"),
        ({"layout": {}}, "missing field"),
        ({"dept": 1}, "unknown field"),
    ],
)
def test_a_refusal_names_the_field(change: dict[str, object], said: str) -> None:
    """And the kernel still runs after it."""
    kept = json.loads(path_of(next(iter(SEEDS))).read_text())
    main = f"""async (modules, {{ kept, change }}, bytes) => {{
      const {{ Kernel, Refusal }} = modules["kernel.js"], kernel = await Kernel.from(bytes);
      const number = kernel.keep(kept.array);
      const none = {{ n: 0, whenNs: [], offset: [], length: [], cacheDraw: [], stream: [], op: [] }};
      let said = "";
      try {{ kernel.run(number, change, none); }}
      catch (error) {{ if (error instanceof Refusal) said = error.message; }}
      const again = ({_RUN})(modules, [kept], bytes);
      return {{ said, end: (await again)[0].endNs }};
    }}"""
    answer = in_node(main, {"kept": kept, "change": change}, with_kernel=True)
    assert said in answer["said"]
    assert answer["end"] == kept["completions"]["end_ns"]

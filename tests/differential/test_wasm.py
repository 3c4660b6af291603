"""The kernel as WebAssembly gives the completions of the native one, to the nanosecond, for the kept scenarios."""

import json

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


def test_a_refusal_names_the_field() -> None:
    """And the kernel still runs after it."""
    kept = json.loads(path_of(next(iter(SEEDS))).read_text())
    expected = {"depth=0": {"depth": 0}, "missing field": {"layout": {}}, "unknown field": {"dept": 1}}
    main = f"""async (modules, {{ kept, changes }}, bytes) => {{
      const {{ Kernel, Refusal }} = modules["kernel.js"], kernel = await Kernel.from(bytes);
      const number = kernel.keep(kept.array);
      const none = {{ n: 0, whenNs: [], offset: [], length: [], cacheDraw: [], stream: [], op: [] }};
      const said = changes.map((change) => {{
        try {{ kernel.run(number, change, none); }}
        catch (error) {{ if (error instanceof Refusal) return error.message; }}
        return "";
      }});
      const again = await ({_RUN})({{ "kernel.js": {{ Kernel: {{ from: () => kernel }} }} }}, [kept], bytes);
      return {{ said, end: again[0].endNs }};
    }}"""
    answer = in_node(main, {"kept": kept, "changes": list(expected.values())}, with_kernel=True)
    for part, said in zip(expected, answer["said"], strict=True):
        assert part in said
    assert answer["end"] == kept["completions"]["end_ns"]

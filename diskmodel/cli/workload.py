"""`diskmodel workload`: make a workload from recordings of a server's disks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from diskmodel.cli.shared.console import print_json, show
from diskmodel.cli.shared.options import Debug, Device, Format, Json, Percentile
from diskmodel.cli.shared.status import check_place, ends_well
from diskmodel.units import in_digits

#: Streams that are shown in words; fio jobs may have hundreds.
_MAX_STREAMS = 8


@ends_well
def workload(
    evidence: Annotated[
        Path,
        typer.Argument(metavar="EVIDENCE", help="iostat -x or sar output, a fio job file or result, or a block trace."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="TOML file to write the workload to, for --workload and plans.")
    ] = None,
    fit: Annotated[
        bool,
        typer.Option(
            "--fit",
            help="Fit one synthetic stream to a trace: excerpts that stand for it; report what it loses in latency.",
        ),
    ] = False,
    keep_first: Annotated[
        bool | None,
        typer.Option(
            "--keep-first/--drop-first",
            help="iostat: whether its first report counts; without -y it covers the time since the machine started.",
            show_default=False,
        ),
    ] = None,
    percentile: Percentile = None,
    device: Device = None,
    format: Format = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Turn a recording of a server's disks into a workload that arrays can be planned for."""
    from diskmodel.formats import find_workload
    from diskmodel.workload import Workload

    check_place(out, "out")
    if fit:
        _fit(evidence, out, percentile=percentile, device=device, format=format, as_json=as_json)
        return
    found = find_workload(
        evidence,
        level="95" if percentile is None else percentile,
        device=device,
        format=format,
        keep_first=keep_first,
    )
    described = Workload.parse(found.workload, str(evidence))
    if out is not None:
        described.save(out)
    if as_json:
        print_json(
            {
                "kind": found.kind,
                "mean_per_s": found.mean_per_s,
                "load_per_s": {f"p{level:g}": rate for level, rate in found.load_per_s.items()},
                "workload": described.to_dict(),
                "notes": list(found.notes),
            }
        )
        return
    show(f"{evidence}: {found.kind}")
    if found.mean_per_s is not None:
        load = ", ".join(f"p{percentile:g} {in_digits(rate)}" for percentile, rate in found.load_per_s.items())
        show(f"  requests per second over time: mean {in_digits(found.mean_per_s)}, {load}")
    show(*(f"  {line}" for line in described.in_words()[:_MAX_STREAMS]))
    if (left := len(described.streams) - _MAX_STREAMS) > 0:
        show(f"  and {left:,} more stream{'s' if left > 1 else ''}")
    show(*(f"  {note}" for note in found.notes))
    if out is None:
        typer.echo("\n" + described.to_toml().rstrip())
    else:
        show(f"  written to {out}; next: diskmodel simulate ARRAY.toml --workload {out}")


def _fit(
    evidence: Path, out: Path | None, *, percentile: str | None, device: str | None, format: str | None, as_json: bool
) -> None:
    """Fit a synthetic stream to a trace, and report what it loses in latency and does not reproduce."""
    from diskmodel.cli.shared.inputs import read_replay
    from diskmodel.synthesis import synthesize

    trace = read_replay(evidence, "original", percentile=percentile, device=device, format=format).trace
    fitted = synthesize(trace, name=evidence.name)
    if out is not None:
        fitted.workload.save(out)
    if as_json:
        print_json(
            {
                "workload": fitted.workload.to_dict(),
                "trace": asdict(fitted.trace),
                "synthetic": asdict(fitted.synthetic),
                "lost": list(fitted.lost),
                "latency": [
                    {**item.to_dict(), "mean_error_ratio": item.mean_error, "p99_error_ratio": item.p99_error}
                    for item in fitted.latency
                ],
            }
        )
        return
    (stream,) = fitted.workload.streams
    excerpts = stream.excerpts
    assert excerpts is not None
    show(
        f"{evidence}: {len(trace):,} requests in {excerpts.n_phases:,} phases",
        f"  {excerpts.n_excerpts:,} excerpts stand for them, of {excerpts.n_requests:,} requests",
        "  latency of the workload, and of the trace replayed:",
        *(f"    {item.in_words()}" for item in fitted.latency),
        "  not reproduced:" if fitted.lost else "  all compared statistics match the trace",
        *(f"    {x}" for x in fitted.lost),
    )
    if out is None:
        show("  name a file with --out to keep the workload")
    else:
        show(f"  written to {out}; next: diskmodel simulate ARRAY.toml --workload {out}")

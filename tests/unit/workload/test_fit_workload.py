"""Parameters of known workloads are found again, and what cannot be kept is said."""

import numpy as np
import pytest

from diskmodel.errors import DescriptionError
from diskmodel.records import Requests
from diskmodel.workload import Bursts, Poisson, Sequential, Uniform, Workload, Zipf, fit_workload

CAPACITY = 4 * 2**30


def drawn(n: int = 60_000, **stream) -> Requests:
    stream = {"sizes": [{"size": "4 KiB", "weight": 3}, "64 KiB"], "read_ratio": 0.6, "rate_per_s": 200} | stream
    if "arrival" in stream:
        del stream["rate_per_s"]
    return Workload.parse(stream).requests(capacity_bytes=CAPACITY, n=n, seed=17)


def test_poisson_uniform_mix_is_found_again():
    fitted = fit_workload(drawn())
    (stream,) = fitted.workload.streams
    assert isinstance(stream.arrival, Poisson)
    assert stream.arrival.rate_per_s == pytest.approx(200, rel=0.02)
    assert stream.read_ratio == pytest.approx(0.6, abs=0.01)
    assert [share.size_bytes for share in stream.sizes] == [4096, 65536]
    assert stream.sizes[0].weight / stream.sizes[1].weight == pytest.approx(3, rel=0.05)
    assert isinstance(stream.addresses, Uniform) or stream.addresses.theta < 0.1
    assert stream.span_bytes == pytest.approx(CAPACITY, rel=0.01)
    assert fitted.lost == ()


@pytest.mark.parametrize("theta", [0.6, 0.9, 1.2])
def test_zipf_exponent_is_found_again(theta):
    fitted = fit_workload(drawn(addresses={"pattern": "zipf", "theta": theta}))
    addresses = fitted.workload.streams[0].addresses
    assert isinstance(addresses, Zipf)
    assert addresses.theta == pytest.approx(theta, abs=0.05)


def test_runs_are_found_again():
    fitted = fit_workload(drawn(addresses={"pattern": "sequential", "mean_run": 10.0}))
    addresses = fitted.workload.streams[0].addresses
    assert isinstance(addresses, Sequential)
    assert addresses.mean_run == pytest.approx(10, rel=0.05)


def test_on_off_bursts_are_found_again():
    arrival = {"kind": "bursts", "on_rate_per_s": 1000, "mean_on": "40 ms", "mean_off": "60 ms"}
    fitted = fit_workload(drawn(n=200_000, arrival=arrival))
    found = fitted.workload.streams[0].arrival
    assert isinstance(found, Bursts)
    assert found.expected_rate_per_s == pytest.approx(fitted.trace.rate_per_s, rel=1e-6)
    assert fitted.synthetic.gap_variation == pytest.approx(fitted.trace.gap_variation, rel=0.1)


def test_lost_order_is_said():
    requests = drawn(n=10_000)
    op = (np.arange(10_000) // 100 % 2).astype(np.uint8)  # long phases of reads and of writes
    columns = {name: getattr(requests, name) for name in requests.__dataclass_fields__}
    fitted = fit_workload(Requests(**columns | {"op": op}))
    assert any(text.startswith("op correlation: 0.98") for text in fitted.lost)


def test_too_short_or_timeless_traces_are_refused():
    with pytest.raises(DescriptionError, match="at least 100"):
        fit_workload(drawn(n=99))
    requests = drawn(n=200)
    columns = {name: getattr(requests, name) for name in requests.__dataclass_fields__}
    with pytest.raises(DescriptionError, match="no time passes"):
        fit_workload(Requests(**columns | {"when_ns": np.zeros(200, dtype=np.int64)}))

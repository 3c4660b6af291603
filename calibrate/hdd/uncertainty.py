"""The joint uncertainty of a measured hard disk's parameters: after the stages, and after the last one.

What is measured is the time until the head is ready, overhead and seek together: if one is too long the other is too
short. The settle is what writes take beyond that time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibrate.arrays import Floats
from calibrate.hdd.conditions import Conditions
from calibrate.hdd.joint import FREEDOM, Space, StageErrors
from calibrate.hdd.seek import SeekFit
from calibrate.hdd.stages import HddFit
from calibrate.joint_fit import Joint
from diskmodel.drive import Hdd, SeekTable, Uncertainty

#: Steps by which simulated means are differentiated, of times in revolutions and of the stretch: wide, since the means
#: scatter. Half doubles the noise of a derivative; double meets its curvature.
_STEP_TURNS, _STEP_STRETCH = 0.04, 0.1


def stage_errors(fit: HddFit, drive: Hdd) -> StageErrors:
    """Return the standard errors of the stages."""
    overhead = fit.electronics.overhead_stderr_ns if fit.electronics.has_cache else None
    settle = fit.writes.stderr_ns if fit.writes is not None else None
    return StageErrors(overhead, mean_stderr_ns(fit.seek, drive), settle)


def stage_uncertainty(fit: HddFit, drive: Hdd) -> Uncertainty:
    """Return the joint errors of revolution, overhead, seek table and write settle after the stages."""
    errors = stage_errors(fit, drive)
    overhead, ready = errors.overhead_ns or 0.0, errors.ready_ns
    covariance = np.diag([overhead**2, ready**2 + overhead**2, 0.0])
    covariance[0, 1] = covariance[1, 0] = -(overhead**2)
    if errors.settle_ns is not None:
        covariance[2, 2] = max(errors.settle_ns, ready) ** 2
        covariance[1, 2] = covariance[2, 1] = -(ready**2)
    return _in_profile_units(fit, errors, covariance)


def joint_uncertainty(fit: HddFit, drive: Hdd, errors: StageErrors, joint: Joint, fitted: Conditions) -> Uncertainty:
    """Return the same after the last stage.

    It combines the sensitivity of the mean responses with the findings of the stages, which count less where they were
    overruled.
    """
    space, step = Space(drive, errors), joint.step
    widths = np.full(len(step), _STEP_TURNS)
    widths[1] = _STEP_STRETCH
    low, high = np.array(space.bounds()).T
    scale = np.array([1.0 / group.error_ns for group in fitted.groups()])
    columns, beliefs = [], []
    for k, width in enumerate(widths):
        unit = np.eye(len(step))[k]
        up, down = np.minimum(step + width * unit, high), np.maximum(step - width * unit, low)
        run = float((up - down)[k])
        changed = fitted.means(space.moved(joint.drive, up)) - fitted.means(space.moved(joint.drive, down))
        columns.append(changed / run * scale)
        beliefs.append((space.beliefs(up) - space.beliefs(down)) / run)
    jacobian, belief = np.stack(columns, axis=1), np.stack(beliefs, axis=1)
    weight = (FREEDOM + 1.0) / (FREEDOM + space.beliefs(step) ** 2)
    known = np.linalg.inv(jacobian.T @ jacobian + (belief * weight[:, None]).T @ belief)
    # from steps to the fields of the profile: overhead, mean of the seek table, settle
    to_ns = np.zeros((3, len(step)))
    to_ns[1, 0] = space.period_ns
    assert isinstance(joint.drive.seek, SeekTable)
    to_ns[1, 1] = float(np.mean(joint.drive.seek.time_ms) - space.usual_ms) * 1e6 - float(step[0]) * space.period_ns
    rest = list(range(2, len(step)))
    if errors.overhead_ns is not None:
        to_ns[0, rest.pop(0)] = space.period_ns
    if errors.settle_ns is not None:
        to_ns[2, rest.pop(0)] = space.period_ns
    return _in_profile_units(fit, errors, to_ns @ known @ to_ns.T)


def moved_fit(fit: HddFit, drive: Hdd, errors: StageErrors, joint: Joint, uncertainty: Uncertainty) -> HddFit:
    """Return the findings as the last stage moved them, with its errors where they are larger."""
    space = Space(drive, errors)
    seek_ns, stretch, overhead_ns, _ = space.parts(joint.step)
    sigma = dict(zip(uncertainty.names, np.sqrt(np.diag(np.array(uncertainty.covariance))), strict=True))
    old, new = fit.electronics.overhead_ns, fit.electronics.overhead_ns + overhead_ns
    usual = space.usual_ms * 1e6
    ready = usual + seek_ns + (fit.seek.ready_ns - old - usual) * np.exp(stretch) + new
    seek = replace(
        fit.seek, ready_ns=ready, stderr_ns=np.maximum(fit.seek.stderr_ns, 1e6 * float(sigma["seek.time_ms"]))
    )
    electronics = replace(
        fit.electronics,
        overhead_ns=new,
        overhead_stderr_ns=float(sigma.get("read_overhead_ns", fit.electronics.overhead_stderr_ns)),
    )
    writes = fit.writes
    if writes is not None:
        writes = replace(
            writes, settle_ns=float(joint.drive.write_settle_ns or 0), stderr_ns=float(sigma["write_settle_ns"])
        )
    return replace(fit, seek=seek, electronics=electronics, writes=writes)


def _in_profile_units(fit: HddFit, errors: StageErrors, covariance_ns2: Floats) -> Uncertainty:
    """Return the covariance in the units of the profile, with the revolution, which is independent."""
    in_units = covariance_ns2 * np.outer([1.0, 1e-6, 1.0], [1.0, 1e-6, 1.0])
    covariance = np.zeros((4, 4))
    covariance[0, 0] = fit.rotation.stderr_ns**2
    covariance[1:, 1:] = (in_units + in_units.T) / 2
    names = ("revolution_ns", "read_overhead_ns", "seek.time_ms", "write_settle_ns")
    known = [0, *([1] if errors.overhead_ns else []), 2, *([3] if errors.settle_ns is not None else [])]
    chosen = covariance[np.ix_(known, known)].tolist()
    return Uncertainty.parse({"names": [names[k] for k in known], "covariance": chosen})


def mean_stderr_ns(seek: SeekFit, drive: Hdd) -> float:
    """Return the standard error of the mean of the seek table, from the errors of the curve's knots."""
    assert isinstance(drive.seek, SeekTable)
    root = np.sqrt(np.array(drive.seek.distance, np.float64) * drive.heads)
    knots = np.sqrt(seek.distance)
    shares = np.array([np.interp(root, knots, unit).mean() for unit in np.eye(len(knots))])
    return float(np.sqrt(((shares * seek.stderr_ns) ** 2).sum()))

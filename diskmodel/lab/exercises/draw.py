"""What an exercise is, and what it draws from."""

from __future__ import annotations

from urllib.parse import urlencode

from diskmodel.engine.simulate import simulate
from diskmodel.lab.settings import Settings
from diskmodel.loading import dataclass
from diskmodel.result import Result

#: Requests of the run behind an answer: rates of closed loads are then right within 1 %, and a run takes a quarter of a
#: second.
N_REQUESTS = 8_000


@dataclass(frozen=True)
class Task:
    """One exercise with its solution.

    Attributes
    ----------
    question, unit : str
    answer : float
        Of the model, or of the formula that the lesson teaches.
    by_hand : float
        What the worked solution comes to; the answer within its tolerance.
    within : float
        Relative error that still counts as right.
    steps : tuple of str
        The worked solution.
    link : str
        Settings of the lab that show it, as the part of its address after the #.
    """

    question: str
    unit: str
    answer: float
    by_hand: float
    within: float
    steps: tuple[str, ...]
    link: str


def run(settings: Settings) -> Result:
    """Simulate settings of the lab."""
    return simulate(settings.array(), settings.workload(), seed=settings.seed, n_requests=N_REQUESTS, profile_draws=0)


def link_to(settings: Settings, **more: str) -> str:
    """Return the address that restores settings in the lab: those that are not its defaults."""
    default = Settings().to_dict()
    own = {key: value for key, value in settings.to_dict().items() if value != default[key]}
    plain = {key: str(value).lower() if isinstance(value, bool) else value for key, value in own.items()}
    return urlencode({**more, **plain})


def parts_ms(result: Result) -> dict[str, float]:
    """Return the mean of each part of the response, ms."""
    return {part: value / 1e6 for part, value in result.breakdown_ns.items()}


def digits(value: float) -> str:
    """Return a number with four significant digits and no exponent."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def rounded(value: float) -> float:
    """Return what `digits` shows: a question gives it, and its answer is computed from it."""
    return float(digits(value).replace(",", ""))

"""The lab as a web application, served to this machine only."""

from __future__ import annotations

import functools
import json
import math
import socket
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from diskmodel.errors import DescriptionError, Fault, InputError, printable
from diskmodel.lab import curves
from diskmodel.lab.commits import PLACES, CommitSettings, answer_at
from diskmodel.lab.constants import CONSTANTS, constants_js
from diskmodel.lab.effort import MAX_ANIMATION_S
from diskmodel.lab.heat import heat_of
from diskmodel.lab.moving_head import moving_head_page, unavailable_page
from diskmodel.lab.offers import offers
from diskmodel.lab.quiz import Quiz
from diskmodel.lab.scenes import recorded_scene
from diskmodel.lab.settings import Settings
from diskmodel.lab.workers import BusyError, LeftError, Ticket, Workers
from diskmodel.result import show

HOST = "127.0.0.1"
PAGE = Path(__file__).parent / "page"
#: Script and style of heat maps, which reports have, too.
SHARED = {f"heat_map.{ending}": Path(show.__file__).parent / f"heat_map.{ending}" for ending in ("js", "css")}
#: The threads of this process; every lab in it shares them.
WORKERS = Workers()
#: Seconds in which open connections may end when the lab is stopped.
_GRACE_S = 1
#: Longest request body, bytes. The settings take less than 1 KiB.
_MAX_BODY_BYTES = 64 << 10
#: Digits of a whole number in an address; no field takes more than ten.
_MAX_DIGITS = 30
#: What a browser says of a request that comes from the lab's own pages, or from its user ("none").
_OWN_SITES = (None, "same-origin", "none")

#: Content security policy of the lab's pages: they load nothing from other hosts.
_OWN_ONLY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'"
)
#: Policy of the moving head, which is a single file that can be saved: its script and style are inline.
_ONE_FILE = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
)


def application() -> Starlette:
    """Return the web application with the lab's pages.

    Notes
    -----
    - `GET /`: the page; `GET /offers`: the choices of its controls
    - `POST /curve`: the curve for some settings; `?stage=refined` simulates more requests, `&effort=0.5` half of them
    - `GET /quiz/N?seed=S`: a question; `POST /quiz/N` with {"seed": S, "choice": C}: its answer
    - `POST /heat-map`: response times over time for some settings
    - `POST /commits`: commits to a log, wherever it may lie
    - `POST /scene` with {"settings": {…}, "scene": NAME}: a recorded run of all disks
    - `GET /moving-head`: a page that animates a run; `?save=1` downloads it

    Bad input gets status 422 and {"faults": [{"field", "value", "rule", "fix", "text"}]}; status 503 means that too
    many simulations wait, or that the lab is ending.
    """
    app = Starlette(
        routes=[
            Route("/", _page),
            Route("/offers", _reporting_faults(_offers)),
            Route("/curve", _reporting_faults(_curve), methods=["POST"]),
            Route("/quiz/{number}", _reporting_faults(_question), methods=["GET"]),
            Route("/quiz/{number}", _reporting_faults(_reveal), methods=["POST"]),
            Route("/commits", _reporting_faults(_commits), methods=["POST"]),
            Route("/heat-map", _reporting_faults(_heat_map), methods=["POST"]),
            Route("/scene", _reporting_faults(_scene), methods=["POST"]),
            Route("/moving-head", _reporting_faults(_moving_head)),
            Route(f"/page/{CONSTANTS}", _constants),
            *(Route(f"/page/{name}", functools.partial(_shared, path=path)) for name, path in SHARED.items()),
            Mount("/page", StaticFiles(directory=PAGE)),
        ],
        middleware=[
            # refuses requests of foreign pages whose host name resolves to this machine
            Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"]),
            Middleware(_OwnPageOnly),
            Middleware(_Headers),
        ],
    )
    app.state.is_ending = lambda: False
    return app


def listen(port: int = 0) -> socket.socket:
    """Return a listening socket on the loopback address; port 0 picks a free one.

    Raises
    ------
    DescriptionError
        When the port is in use or not permitted.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((HOST, port))
        sock.listen(64)
    except (OSError, OverflowError) as error:
        sock.close()
        why = getattr(error, "strerror", None) or "is not a port"
        raise DescriptionError(
            Fault("port", port, why.lower(), "choose another, or leave it out to get a free one")
        ) from None
    return sock


def url_of(sock: socket.socket) -> str:
    """Return the address to open in a browser."""
    return f"http://{HOST}:{sock.getsockname()[1]}/"


def server() -> uvicorn.Server:
    """Return the server; `run(sockets=[listen()])` runs it until a signal or `should_exit`."""
    app = application()
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=_GRACE_S, ws="none"
    )
    lab = uvicorn.Server(config)
    # when the server stops, what is in progress ends
    app.state.is_ending = lambda: lab.should_exit
    return lab


def warm_up() -> None:
    """Simulate the first curve once, so that the user does not wait for imports and tables."""
    offers()
    question = curves.ask(Settings(), "quick")
    curves.answer(question, [curves.point(question, load) for load in question.loads])


Handler = Callable[[Request], Awaitable[Response]]


def _reporting_faults(handler: Handler) -> Handler:
    """Wrap `handler` so that bad input becomes a JSON list of faults, and what nobody waits for ends quietly."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except InputError as error:
            return JSONResponse({"faults": [_as_data(fault) for fault in error.faults]}, status_code=422)
        except BusyError:
            text = "The lab is busy with other simulations; try again in a moment."
            return JSONResponse({"faults": [{"text": text}]}, 503, {"Retry-After": "5"})
        except (LeftError, ClientDisconnect):
            return Response(status_code=503)

    return answer


T = TypeVar("T")


async def _simulated(request: Request, works: Sequence[Callable[[], T]], ticket: Ticket) -> list[T]:
    """Return the results of `works` from the threads of the lab, unless the reader leaves or the lab ends before."""

    async def has_left() -> bool:
        return request.app.state.is_ending() or await request.is_disconnected()

    return await WORKERS.do_all(list(works), ticket, has_left)


def _as_data(fault: Fault) -> dict[str, object]:
    data = {
        "field": fault.field,
        "value": _shown(fault.value),
        "rule": fault.rule,
        "fix": fault.fix,
        "text": str(fault),
    }
    return {key: printable(value) if isinstance(value, str) else value for key, value in data.items()}


def _shown(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


async def _page(request: Request) -> Response:
    return FileResponse(PAGE / "index.html")


async def _constants(request: Request) -> Response:
    return Response(constants_js(), media_type="text/javascript")


async def _shared(request: Request, *, path: Path) -> Response:
    return FileResponse(path)


async def _offers(request: Request) -> Response:
    return JSONResponse((await _simulated(request, [offers], Ticket()))[0])


async def _curve(request: Request) -> Response:
    """Answer with a curve, simulated point by point, so that a closed connection stops it early."""
    started = time.perf_counter()
    settings = Settings.parse(await _body(request))
    stage = _stage(request.query_params.get("stage", "quick"))
    effort = _number(request.query_params.get("effort", "1"), "effort")
    ask = functools.partial(curves.ask, settings, stage, effort)
    [question] = await _simulated(request, [ask], Ticket())
    # the chosen point first
    loads = sorted(question.loads, key=lambda load: load != settings.chosen_load)
    works = [functools.partial(curves.point, question, load) for load in loads]
    points = dict(zip(loads, await _simulated(request, works, Ticket()), strict=True))
    answer = curves.answer(question, [points[load] for load in question.loads])
    return JSONResponse({**answer, "answer_ms": (time.perf_counter() - started) * 1e3})


def _stage(name: str) -> curves.Stage:
    if name not in get_args(curves.Stage):
        raise DescriptionError(Fault("stage", name, "is not a known stage", "use quick or refined"))
    return cast(curves.Stage, name)


async def _question(request: Request) -> Response:
    quiz = Quiz(_whole(request.path_params, "number", None), _whole(request.query_params, "seed", 0))
    return JSONResponse(quiz.to_dict())


async def _reveal(request: Request) -> Response:
    body = await _body(request)
    quiz = Quiz(_whole(request.path_params, "number", None), _whole(body, "seed", 0))
    ticket = Ticket()
    reveal = functools.partial(quiz.reveal, _whole(body, "choice", None), ticket.check)
    return JSONResponse((await _simulated(request, [reveal], ticket))[0])


async def _commits(request: Request) -> Response:
    settings = CommitSettings.parse(await _body(request))
    works = [functools.partial(answer_at, settings, place) for place, *_ in PLACES]
    return JSONResponse(await _simulated(request, works, Ticket()))


async def _heat_map(request: Request) -> Response:
    heat = functools.partial(heat_of, Settings.parse(await _body(request)))
    return JSONResponse((await _simulated(request, [heat], Ticket()))[0])


async def _scene(request: Request) -> Response:
    body = await _body(request)
    given = body.get("settings", {})
    if not isinstance(given, dict):
        raise DescriptionError(Fault("settings", None, "is not an object", "send one JSON object"))
    settings, ticket = Settings.parse(given), Ticket()
    draw = functools.partial(recorded_scene, settings, str(body.get("scene", "load")), _limited(ticket))
    return JSONResponse((await _simulated(request, [draw], ticket))[0])


async def _moving_head(request: Request) -> Response:
    """Answer with a page in every case: bad input is reported where the animation would be."""
    query = request.query_params
    headers = {"Content-Security-Policy": _ONE_FILE}
    try:
        settings = Settings.parse(_json(query.get("settings", "{}")))
        show = query.get("show", "schedulers")
        pair = [name for name in query.get("schedulers", "fcfs,sptf").split(",") if name]
        n = _whole(query, "requests", 200)
        ticket = Ticket()
        draw = functools.partial(_drawn, settings, show, pair, n, ticket)
        [page] = await _simulated(request, [draw], ticket)
    except InputError as error:
        return HTMLResponse(unavailable_page([str(fault) for fault in error.faults]), 422, headers)
    if query.get("save"):
        headers["Content-Disposition"] = f'attachment; filename="{show.replace("_", "-")}.html"'
    return HTMLResponse(page, headers=headers)


def _drawn(settings: Settings, show: str, schedulers: list[str], n: int, ticket: Ticket) -> str:
    """Return the page of the moving head."""
    return moving_head_page(settings, show, schedulers, n, _limited(ticket))


def _limited(ticket: Ticket) -> Callable[[], None]:
    """Return what ends a recording when nobody waits for it, or when it takes longer than estimated."""
    until = time.monotonic() + MAX_ANIMATION_S

    def check() -> None:
        ticket.check()
        if time.monotonic() > until:
            rule = f"took longer than {MAX_ANIMATION_S:.0f} s to simulate"
            raise DescriptionError(Fault("requests", None, rule, "use fewer, or smaller ones"))

    return check


async def _body(request: Request) -> Mapping[str, Any]:
    received = b""
    async for chunk in request.stream():
        received += chunk
        if len(received) > _MAX_BODY_BYTES:
            raise DescriptionError(Fault("body", None, "is too long", f"send at most {_MAX_BODY_BYTES} bytes"))
    return _json(received)


def _json(text: str | bytes) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise DescriptionError(Fault("body", None, "is not JSON", "send one JSON object")) from None
    if not isinstance(data, dict):
        raise DescriptionError(Fault("body", None, "is not an object", "send one JSON object"))
    return data


def _number(text: str, field: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise DescriptionError(Fault(field, text, "must be a number", "write for example 0.5")) from None


def _whole(data: Mapping[str, Any], field: str, default: int | None) -> int:
    value = data.get(field, default)
    try:
        if isinstance(value, bool | float) or value is None or len(str(value)) > _MAX_DIGITS:
            raise ValueError
        return int(value)
    except (TypeError, ValueError):
        shown = _shown(value)
        shown = shown[:_MAX_DIGITS] + "…" if isinstance(shown, str) and len(shown) > _MAX_DIGITS else shown
        raise DescriptionError(Fault(field, shown, "must be a whole number", "write for example 1")) from None


class _OwnPageOnly:
    """Refuses requests of foreign pages: they could not read the answer, but they could keep the machine busy.

    A browser names the origin of a POST, and says of every request whether it comes from another site. Only the start
    page may be linked to.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        is_foreign = origin is not None and origin != f"http://{headers.get('host')}"
        is_foreign |= headers.get("sec-fetch-site") not in _OWN_SITES and scope.get("path") != "/"
        if scope["type"] == "http" and is_foreign:
            refusal = PlainTextResponse("requests from other sites are refused", status_code=403)
            await refusal(scope, receive, send)
        else:
            await self.app(scope, receive, send)


class _Headers:
    """Adds headers to every response: load nothing from other hosts, cache nothing."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                own = {
                    b"content-security-policy": _OWN_ONLY.encode(),
                    b"cache-control": b"no-store",
                    b"x-content-type-options": b"nosniff",
                    b"referrer-policy": b"no-referrer",
                    b"cross-origin-resource-policy": b"same-origin",
                }
                message["headers"] = [*message["headers"], *((k, v) for k, v in own.items() if k not in names)]
            await send(message)

        await self.app(scope, receive, with_headers)

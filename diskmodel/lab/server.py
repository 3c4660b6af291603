"""The lab as a web application, served to this machine only."""

from __future__ import annotations

import json
import math
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, cast, get_args

import anyio
import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from diskmodel.errors import DescriptionError, Fault, InputError, printable
from diskmodel.lab import curves
from diskmodel.lab.moving_head import moving_head_page, unavailable_page
from diskmodel.lab.offers import offers
from diskmodel.lab.quiz import Quiz
from diskmodel.lab.settings import Settings

HOST = "127.0.0.1"
PAGE = Path(__file__).parent / "page"
#: Simulations at a time. The kernel releases the interpreter lock, so two use two cores; more would delay the chosen
#: point, which is simulated first.
_PARALLEL = 2
#: Longest request body, bytes. The settings take less than 1 KiB.
_MAX_BODY_BYTES = 64 << 10

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
    - `GET /moving-head`: a page that animates a run; `?save=1` downloads it

    Bad input gets status 422 and {"faults": [{"field", "value", "rule", "fix", "text"}]}.
    """
    app = Starlette(
        routes=[
            Route("/", _page),
            Route("/offers", _reporting_faults(_offers)),
            Route("/curve", _reporting_faults(_curve), methods=["POST"]),
            Route("/quiz/{number:int}", _reporting_faults(_question), methods=["GET"]),
            Route("/quiz/{number:int}", _reporting_faults(_reveal), methods=["POST"]),
            Route("/moving-head", _moving_head),
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
        app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=10, ws="none"
    )
    lab = uvicorn.Server(config)
    # when the server stops, a curve in progress starts no further runs
    app.state.is_ending = lambda: lab.should_exit
    return lab


def warm_up() -> None:
    """Simulate the first curve once, so that the user does not wait for imports and tables."""
    offers()
    question = curves.ask(Settings(), "quick")
    curves.answer(question, [curves.point(question, load) for load in question.loads])


Handler = Callable[[Request], Awaitable[Response]]


def _reporting_faults(handler: Handler) -> Handler:
    """Wrap `handler` so that bad input becomes a JSON list of faults."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except InputError as error:
            return JSONResponse({"faults": [_as_data(fault) for fault in error.faults]}, status_code=422)

    return answer


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


async def _offers(request: Request) -> Response:
    return JSONResponse(await to_thread.run_sync(offers))


async def _curve(request: Request) -> Response:
    """Answer with a curve, simulated point by point, so that a closed connection stops it early."""
    started = time.perf_counter()
    settings = Settings.parse(await _body(request))
    stage = _stage(request.query_params.get("stage", "quick"))
    effort = _number(request.query_params.get("effort", "1"), "effort")
    question = await to_thread.run_sync(curves.ask, settings, stage, effort)
    points: dict[float, dict[str, Any]] = {}
    turn = anyio.Semaphore(_PARALLEL)

    async def run(load: float) -> None:
        async with turn:
            if not (request.app.state.is_ending() or await request.is_disconnected()):
                points[load] = await to_thread.run_sync(curves.point, question, load)

    async with anyio.create_task_group() as tasks:
        for load in sorted(question.loads, key=lambda load: load != settings.chosen_load):
            tasks.start_soon(run, load)
    if len(points) < len(question.loads):
        return Response(status_code=503)
    answer = curves.answer(question, [points[load] for load in question.loads])
    return JSONResponse({**answer, "answer_ms": (time.perf_counter() - started) * 1e3})


def _stage(name: str) -> curves.Stage:
    if name not in get_args(curves.Stage):
        raise DescriptionError(Fault("stage", name, "is not a known stage", "use quick or refined"))
    return cast(curves.Stage, name)


async def _question(request: Request) -> Response:
    quiz = Quiz(request.path_params["number"], _whole(request.query_params, "seed", 0))
    return JSONResponse(quiz.to_dict())


async def _reveal(request: Request) -> Response:
    body = await _body(request)
    quiz = Quiz(request.path_params["number"], _whole(body, "seed", 0))
    return JSONResponse(await to_thread.run_sync(quiz.reveal, _whole(body, "choice", None)))


async def _moving_head(request: Request) -> Response:
    """Answer with a page in every case: bad input is reported where the animation would be."""
    query = request.query_params
    headers = {"Content-Security-Policy": _ONE_FILE}
    try:
        settings = Settings.parse(_json(query.get("settings", "{}")))
        show = query.get("show", "schedulers")
        pair = [name for name in query.get("schedulers", "fcfs,sptf").split(",") if name]
        n = _whole(query, "requests", 200)
        page = await to_thread.run_sync(moving_head_page, settings, show, pair, n)
    except InputError as error:
        return HTMLResponse(unavailable_page([str(fault) for fault in error.faults]), 422, headers)
    if query.get("save"):
        headers["Content-Disposition"] = f'attachment; filename="{show.replace("_", "-")}.html"'
    return HTMLResponse(page, headers=headers)


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
        if isinstance(value, bool | float) or value is None:
            raise ValueError
        return int(value)
    except (TypeError, ValueError):
        raise DescriptionError(Fault(field, _shown(value), "must be a whole number", "write for example 1")) from None


class _OwnPageOnly:
    """Refuses requests of foreign pages: they could not read the answer, but they could keep the machine busy."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if scope["type"] == "http" and origin is not None and origin != f"http://{headers.get('host')}":
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

"""The lab as a web application, and the loop that serves it to this machine only."""

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
#: Runs at the same time; the kernel leaves the interpreter free.
_PARALLEL = 2
_MAX_BODY_BYTES = 64 << 10

_OWN_ONLY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " \
            "frame-src 'self'; base-uri 'none'; form-action 'none'"  # fmt: skip
#: The moving head is one file that can be saved: its script and style are in it.
_ONE_FILE = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; " \
            "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"  # fmt: skip


def application() -> Starlette:
    """The lab's pages and answers.

    Notes
    -----
    - `GET /`: the page; `GET /offers`: choices of its controls
    - `POST /curve`: settings to a curve; `?stage=refined` for more requests, `&effort=0.5` for half of them
    - `GET /quiz/N?seed=S`: a question; `POST /quiz/N` with {"seed": S, "choice": C}: its answer
    - `GET /moving-head`: a page that plays back a run; `?save=1` as a file

    Bad input is answered by status 422 and {"faults": [{"field", "value", "rule", "fix", "text"}]}.
    """
    app = Starlette(
        routes=[
            Route("/", _page),
            Route("/offers", _told(_offers)),
            Route("/curve", _told(_curve), methods=["POST"]),
            Route("/quiz/{number:int}", _told(_question), methods=["GET"]),
            Route("/quiz/{number:int}", _told(_reveal), methods=["POST"]),
            Route("/moving-head", _moving_head),
            Mount("/page", StaticFiles(directory=PAGE)),
        ],
        middleware=[
            # a page elsewhere that names this machine as its own host gets nothing
            Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"]),
            Middleware(_OwnPageOnly),
            Middleware(_Headers),
        ],
    )
    app.state.is_ending = lambda: False
    return app


def listen(port: int = 0) -> socket.socket:
    """A socket on the loopback address; port 0 takes any free one.

    Raises
    ------
    DescriptionError
        When the port is taken or may not be used.
    """
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((HOST, port))
        sock.listen(64)
    except (OSError, OverflowError) as error:
        sock.close()
        why = getattr(error, "strerror", None) or "is no port"
        raise DescriptionError(
            Fault("port", port, why.lower(), "choose another, or leave it out to take any free one")
        ) from None
    return sock


def url_of(sock: socket.socket) -> str:
    """Address to open in a browser."""
    return f"http://{HOST}:{sock.getsockname()[1]}/"


def server() -> uvicorn.Server:
    """The server, not yet running; `run(sockets=[listen()])` runs it until a signal or `should_exit`."""
    app = application()
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=10, ws="none"
    )
    lab = uvicorn.Server(config)
    # a curve under way ends with the runs that have begun
    app.state.is_ending = lambda: lab.should_exit
    return lab


def warm_up() -> None:
    """Answer the first question once, so that the first reader does not wait for imports and tables."""
    offers()
    question = curves.ask(Settings(), "quick")
    curves.answer(question, [curves.point(question, load) for load in question.loads])


Handler = Callable[[Request], Awaitable[Response]]


def _told(handler: Handler) -> Handler:
    """`handler` with bad input told as faults."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except InputError as error:
            return JSONResponse({"faults": [_as_data(fault) for fault in error.faults]}, status_code=422)

    return answer


def _as_data(fault: Fault) -> dict[str, object]:
    told = {
        "field": fault.field,
        "value": _shown(fault.value),
        "rule": fault.rule,
        "fix": fault.fix,
        "text": str(fault),
    }
    return {key: printable(value) if isinstance(value, str) else value for key, value in told.items()}


def _shown(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


async def _page(request: Request) -> Response:
    return FileResponse(PAGE / "index.html")


async def _offers(request: Request) -> Response:
    return JSONResponse(await to_thread.run_sync(offers))


async def _curve(request: Request) -> Response:
    """The curve, point by point, so that a reader who has moved on is noticed."""
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
        raise DescriptionError(Fault("stage", name, "is no stage", "use quick or refined"))
    return cast(curves.Stage, name)


async def _question(request: Request) -> Response:
    quiz = Quiz(request.path_params["number"], _whole(request.query_params, "seed", 0))
    return JSONResponse(quiz.to_dict())


async def _reveal(request: Request) -> Response:
    body = await _body(request)
    quiz = Quiz(request.path_params["number"], _whole(body, "seed", 0))
    return JSONResponse(await to_thread.run_sync(quiz.reveal, _whole(body, "choice", None)))


async def _moving_head(request: Request) -> Response:
    """A page in any case: what cannot be shown is told where it would have been."""
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
    """Refuses what pages from elsewhere send: they could not read the answer, but they could keep the machine busy."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if scope["type"] == "http" and origin is not None and origin != f"http://{headers.get('host')}":
            refusal = PlainTextResponse("pages from elsewhere get no answer", status_code=403)
            await refusal(scope, receive, send)
        else:
            await self.app(scope, receive, send)


class _Headers:
    """Headers of every answer: nothing from elsewhere, nothing kept."""

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

"""What goes back: facts as JSON with our names, and every error in one shape: `{error, code, hint?}`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import structlog
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from maestro.errors import InvalidInput, MaestroError, NotFound, Refused

if TYPE_CHECKING:
    from fastapi import FastAPI, Request

    from maestro.server.refusals import Refusals

_log = structlog.get_logger("answers")


def error_response(error: MaestroError) -> JSONResponse:
    return JSONResponse(error.to_wire(), status_code=error.http_status)


def install_error_answers(app: FastAPI, refusals: Refusals) -> None:
    @app.exception_handler(MaestroError)
    async def _ours(request: Request, error: MaestroError) -> JSONResponse:
        if isinstance(error, Refused):
            await asyncio.to_thread(refusals.keep, request, error)
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    async def _invalid(_request: Request, error: RequestValidationError) -> JSONResponse:
        return error_response(_explained(error.errors()))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> JSONResponse:
        if error.status_code == 404:
            return error_response(
                NotFound(f"There is no {request.url.path}.", hint="GET /openapi.json lists what there is.")
            )
        if error.status_code == 400:
            return error_response(InvalidInput(f"{error.detail}.", hint="Send one JSON object."))
        body = {"error": f"{error.detail}.", "code": "http"}
        return JSONResponse(body, status_code=error.status_code, headers=error.headers)

    @app.exception_handler(Exception)
    async def _unexpected(request: Request, error: Exception) -> JSONResponse:
        _log.error("unexpected", path=request.url.path, exc_info=error)
        return error_response(
            MaestroError("The daemon met an error that it did not expect.", hint="See `maestro server logs`.")
        )


def _explained(problems: Any) -> InvalidInput:
    """Pydantic's findings as one sentence."""
    first = problems[0]
    where = ".".join(str(part) for part in first["loc"] if part not in {"body", "query", "path"})
    if first["type"] == "json_invalid":
        reason = first.get("ctx", {}).get("error", "")
        return InvalidInput(f"The body is not valid JSON: {reason}.", hint="Send one JSON object.")
    if first["type"] == "model_attributes_type":
        return InvalidInput(
            "The body is not a JSON object.",
            hint="Send one JSON object, with Content-Type: application/json.",
        )
    message = first["msg"][:1].lower() + first["msg"][1:]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return InvalidInput(f"{where or 'The body'}: {message}{more}.", hint="GET /openapi.json has every field.")

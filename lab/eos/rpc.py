"""The JSON-RPC envelope of eAPI. Pure: bytes in, bytes out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .cli import RequestFailed

if TYPE_CHECKING:
    from .device import EosDevice

_PARSE_ERROR, _INVALID_REQUEST, _NO_METHOD, _INVALID_PARAMS = -32700, -32600, -32601, -32602
_ENCODINGS = ("json", "text")


class Malformed(Exception):
    """The envelope is no JSON-RPC request that eAPI would take."""

    def __init__(self, code: int, message: str, request_id: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


class Request:
    """One runCmds request."""

    __slots__ = ("commands", "encoding", "request_id")

    def __init__(self, body: bytes) -> None:
        envelope = _envelope(body)
        self.request_id = envelope.get("id")
        if envelope.get("method") != "runCmds":
            raise Malformed(_NO_METHOD, "Method not found", self.request_id)
        params = envelope.get("params")
        if not isinstance(params, dict) or not isinstance(params.get("cmds"), list):
            raise Malformed(_INVALID_PARAMS, "Invalid params", self.request_id)
        self.commands: list[str | dict[str, Any]] = params["cmds"]
        self.encoding = params.get("format") or "json"
        if self.encoding not in _ENCODINGS or not all(_is_command(item) for item in self.commands):
            raise Malformed(_INVALID_PARAMS, "Invalid params", self.request_id)

    @property
    def words(self) -> set[str]:
        """Return the first words of the commands."""
        texts = (item if isinstance(item, str) else str(item["cmd"]) for item in self.commands)
        return {word for text in texts for word in text.split()[:1]}


def _is_command(item: object) -> bool:
    return isinstance(item, str) or (isinstance(item, Mapping) and isinstance(item.get("cmd"), str))


def _envelope(body: bytes) -> dict[str, Any]:
    try:
        envelope = json.loads(body)
    except ValueError:
        raise Malformed(_PARSE_ERROR, "Parse error") from None
    if not isinstance(envelope, dict):
        raise Malformed(_INVALID_REQUEST, "Invalid request")
    return envelope


def malformed(error: Malformed) -> bytes:
    """Return the answer to a request that was not understood."""
    return _error(error.request_id, error.code, str(error), "[]")


def answer(device: EosDevice, request: Request, user: str) -> bytes:
    """Run a request and return the body of the answer. HTTP says 200 also where a command failed, as eAPI does."""
    try:
        results = device.run(request.commands, user, request.encoding)
    except RequestFailed as failure:
        return _error(request.request_id, failure.code, str(failure), f"[{', '.join(failure.results)}]")
    head = f'{{"jsonrpc": "2.0", "id": {json.dumps(request.request_id)}, "result": ['
    return f"{head}{', '.join(results)}]}}".encode()


def _error(request_id: object, code: int, message: str, data: str) -> bytes:
    error = f'{{"code": {code}, "message": {json.dumps(message)}, "data": {data}}}'
    return f'{{"jsonrpc": "2.0", "id": {json.dumps(request_id)}, "error": {error}}}'.encode()

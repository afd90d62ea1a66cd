"""The supervisor's control socket: one JSON object a line, one reply each."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.mtu.errors import JumboError

from .folder import LabFolder

_LOG = logging.getLogger(__name__)
_LONGEST_REQUEST = 1 << 16

Verbs = Mapping[str, Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]]


async def serve_control(folder: LabFolder, verbs: Verbs) -> asyncio.Server:
    """Listen in the lab's folder; only its owner can connect."""
    listener = socket.socket(socket.AF_UNIX)
    with folder.control_address() as address:
        listener.bind(address)
    (folder.path / "control").chmod(0o600)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                writer.write(json.dumps(await _answer(line, verbs)).encode() + b"\n")
                await writer.drain()
        writer.close()

    return await asyncio.start_unix_server(serve, sock=listener, limit=_LONGEST_REQUEST)


async def _answer(line: bytes, verbs: Verbs) -> dict[str, Any]:
    try:
        request = json.loads(line)
        action = verbs[request["verb"]]
    except (ValueError, KeyError, TypeError):
        return {"error": f"the lab knows no such request; it knows {', '.join(verbs)}"}
    try:
        return await action(request)
    except JumboError as error:
        return {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - a bug must not take the lab down with it
        _LOG.exception("request %s", request["verb"])
        return {"error": f"internal error, see the lab's log: {error!r}"}

"""eAPI over HTTPS: one listener per device, any number of devices in one event loop."""

from __future__ import annotations

import base64
import hmac
import ssl

from aiohttp import web

from ..serving import Listener, ServedDevice, threads
from . import rpc
from .device import EosDevice

_REALM = {"WWW-Authenticate": 'Basic realm="COMMAND_API_AUTH"'}
_REFUSED = "Unable to authenticate user: Bad username/password combination\n"


class Handle(ServedDevice):
    """A device that is being served. Its commit timer fires by itself as long as the handle is open."""

    def __init__(self, device: EosDevice, context: ssl.SSLContext, *, inline: bool) -> None:
        super().__init__(device)
        self.device = device
        self._context = context
        self._inline = inline
        self._http = web.Server(self._handle, access_log=None, handler_cancellation=False)
        self._users: dict[str, str] = {}

    # -- listening -------------------------------------------------------------------------------------------------

    async def _start(self, address: str, port: int) -> Listener:
        return await self._loop.create_server(
            self._http, address, port, ssl=self._context, reuse_address=True, backlog=64
        )

    def _drop_connections(self) -> None:
        for connection in list(self._http.connections):
            if connection.transport:
                connection.transport.abort()

    async def close(self) -> None:
        """Stop serving; the device stays as it is."""
        await super().close()
        await self._http.shutdown(0.1)

    # -- requests --------------------------------------------------------------------------------------------------

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if self._cut and request.transport:  # its handshake was under way when management was cut
            request.transport.abort()
            return web.Response(status=503)
        user = self._authenticated(request.headers.get("Authorization", ""))
        if user is None:
            return web.Response(status=401, text=_REFUSED, headers=_REALM)
        if request.path != "/command-api":
            return web.Response(status=404)
        if request.method == "HEAD":  # how a public test framework asks whether eAPI is there
            return web.Response(content_type="application/json")
        if request.method != "POST":
            return web.Response(status=405, headers={"Allow": "HEAD, POST"})
        body = await self._answer(await request.read(), user)
        if self._cut and request.transport:
            request.transport.abort()  # done, but the client shall not hear of it
        return web.Response(body=body, content_type="application/json")

    async def _answer(self, body: bytes, user: str) -> bytes:
        try:
            request = rpc.Request(body)
        except rpc.Malformed as error:
            return rpc.malformed(error)
        if self._inline and "ping" not in request.words:
            return rpc.answer(self.device, request, user)
        return await self._loop.run_in_executor(threads(), rpc.answer, self.device, request, user)

    def _authenticated(self, header: str) -> str | None:
        """Return the user of a Basic header, None if it is wrong."""
        if known := self._users.get(header):
            name, _sep, password = known.partition("\0")
            if self.device.users.get(name) == password:
                return name
        scheme, _sep, token = header.partition(" ")
        try:
            name, _sep, password = base64.b64decode(token, validate=True).decode().partition(":")
        except ValueError:
            return None
        expected = self.device.users.get(name)
        if scheme != "Basic" or expected is None or not hmac.compare_digest(expected.encode(), password.encode()):
            return None
        self._users[header] = f"{name}\0{password}"
        return name


async def serve(
    device: EosDevice, address: str, port: int, ssl_context: ssl.SSLContext, *, inline: bool = False
) -> Handle:
    """Serve a device and return its handle.

    inline: run commands in the event loop itself, for data planes that answer from memory; otherwise each request
    runs in a thread, so that one device's slow data plane does not hold up the others.
    """
    handle = Handle(device, ssl_context, inline=inline)
    await handle.listen(address, port)
    return handle

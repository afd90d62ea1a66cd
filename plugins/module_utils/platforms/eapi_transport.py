"""pyeapi's connections without what they write for a debug log that nobody reads.

pyeapi 1.0.4 renders each reply twice as text before it is logged, which costs more CPU than parsing it; over a thousand
switches that is seconds. Everything but `send` is pyeapi's own.
"""

from __future__ import annotations

import functools
import json
import ssl
import threading
from typing import Any

from ansible_collections.jumbo.fabric.plugins.module_utils.platforms.base import Access

try:
    from pyeapi.eapilib import (
        CommandError,
        EapiConnection,
        HttpEapiConnection,
        HttpsEapiConnection,
    )
    from pyeapi.eapilib import (
        ConnectionError as EapiConnectionError,
    )
except ImportError:  # eos_api says so when a driver is used
    EapiConnection = HttpEapiConnection = HttpsEapiConnection = object

UNAUTHORIZED = 401
_ONE_AT_A_TIME = threading.Lock()


class _Quiet(EapiConnection):  # type: ignore[misc]
    def send(self, data: str) -> dict[str, Any]:
        """Post one request and return the decoded reply; raises pyeapi's own errors."""
        headers = {"Content-Type": "application/json-rpc"}
        if self._auth:
            headers.update([self._auth])
        try:
            self.transport.request("POST", "/command-api", data.encode(), headers)
            response = self.transport.getresponse()
            content = response.read()
            if response.status == UNAUTHORIZED:
                raise EapiConnectionError(str(self), f"{response.reason}. {content.decode(errors='replace')}")
            decoded = json.loads(content)
        except OSError as failure:
            raise EapiConnectionError(str(self), f"Socket error during eAPI connection: {failure}") from failure
        except ValueError as failure:
            raise EapiConnectionError(str(self), "the answer is no JSON: is this eAPI?") from failure
        finally:
            self.transport.close()
        if "error" in decoded:
            code, message, errors, output = self._parse_error_message(decoded)
            raise CommandError(code, message, command_error=errors, output=output)
        return dict(decoded)


class QuietHttp(_Quiet, HttpEapiConnection):  # type: ignore[misc]
    """eAPI over HTTP."""


class QuietHttps(_Quiet, HttpsEapiConnection):  # type: ignore[misc]
    """eAPI over HTTPS."""


def options_for(access: Access) -> dict[str, Any]:
    """Return what napalm's EOS driver needs in `optional_args`."""
    arguments: dict[str, Any] = {"transport": QuietHttps if access.use_tls else QuietHttp}
    if access.use_tls:
        arguments["context"] = _context(access.validate_certs)
    if access.port:
        arguments["port"] = access.port
    if access.enable_password:
        arguments["enable_password"] = access.enable_password
    return arguments


@functools.lru_cache(maxsize=2)
def _make_context(validate: bool) -> ssl.SSLContext:
    if validate:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _context(validate: bool) -> ssl.SSLContext:
    """Return one context for all devices: making one reads the system's certificates, once and not once per thread."""
    with _ONE_AT_A_TIME:
        return _make_context(validate)

"""An event loop in a thread of its own, to serve devices while a test uses blocking clients; and the devices' clock."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator

import pytest


class Clock:
    """The device's time, which a test moves on."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@contextlib.contextmanager
def loop_in_thread() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)


@contextlib.contextmanager
def quick_netconf() -> Iterator[None]:
    """ncclient lets each request wait for the next tick of its loop, a tenth of a second: tests need not."""
    session = pytest.importorskip("ncclient.transport.session")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "TICK", 0.01)
        yield

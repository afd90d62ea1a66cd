"""An event loop in a thread of its own: devices are served there while a test uses blocking clients."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator

import pytest


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

"""An event loop in a thread of its own: devices are served there while a test uses blocking clients."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def loop_in_thread() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)

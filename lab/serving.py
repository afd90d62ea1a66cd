"""What serving any emulated device needs: threads for its requests, and an alarm for what is due by its clock."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

_LOG = logging.getLogger(__name__)
_THREADS = 64  # pings wait for answers that may not come; they must not keep a confirmation waiting

_executor: ThreadPoolExecutor | None = None


class Timed(Protocol):
    """A device that has something to do at a certain time."""

    due: float | None
    on_deadline: Callable[[], None] | None
    now: Callable[[], float]

    def tick(self) -> None:
        """Do what is due."""

    def notify(self) -> None:
        """Note when `tick` has something to do next."""


def threads() -> ThreadPoolExecutor:
    """Return the threads of all devices, made when they are first needed."""
    global _executor  # noqa: PLW0603 - one pool for all devices
    if _executor is None:
        _executor = ThreadPoolExecutor(_THREADS, thread_name_prefix="device")
    return _executor


class Alarm:
    """Lets a device's `tick` run when it is due, as long as the alarm is on. Made in the event loop that serves it."""

    def __init__(self, device: Timed) -> None:
        self._device = device
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        device.on_deadline = self._deadline_moved
        device.notify()
        self._arm()

    def stop(self) -> None:
        """Switch off."""
        self._device.on_deadline = None
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _deadline_moved(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._arm)

    def _arm(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        due = self._device.due
        if due is not None and self._device.on_deadline:
            self._timer = self._loop.call_later(max(0.0, due - self._device.now()), self._fire)

    def _fire(self) -> None:
        self._timer = None
        done = self._loop.run_in_executor(threads(), self._device.tick)
        done.add_done_callback(self._fired)

    def _fired(self, done: asyncio.Future[None]) -> None:
        logged(done)
        if self._timer is None:
            self._arm()


def logged(done: asyncio.Future[Any]) -> None:
    """Log what a task ended with, if that was an error."""
    if not done.cancelled() and done.exception():
        _LOG.error("%s", done.exception())

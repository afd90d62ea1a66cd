"""What serving any emulated device needs: a listener that can be cut off, threads for its requests, and an alarm."""

from __future__ import annotations

import abc
import asyncio
import logging
from collections.abc import Callable, Sequence
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


class Listener(Protocol):
    """What a library returns for a port that it listens on."""

    @property
    def sockets(self) -> Sequence[Any]:
        """Return the sockets that are bound."""

    def close(self) -> None:
        """Take no more connections."""


class ServedDevice(abc.ABC):
    """A device that listens, and whose management may be cut off; its alarm runs until it is closed.

    Made in the event loop that serves it. The device itself goes on while it is cut off.
    """

    def __init__(self, device: Timed) -> None:
        self.address = ""
        self.port = 0
        self._loop = asyncio.get_running_loop()
        self._listener: Listener | None = None
        self._cut = False
        self._alarm = Alarm(device)

    @abc.abstractmethod
    async def _start(self, address: str, port: int) -> Listener:
        """Listen in the device's own protocol."""

    @abc.abstractmethod
    def _drop_connections(self) -> None:
        """End every connection at once, without an answer."""

    async def listen(self, address: str, port: int) -> None:
        """Start to listen; port 0 takes a free one and keeps it from then on."""
        self._listener = await self._start(address, port)
        self.address, self.port = self._listener.sockets[0].getsockname()[:2]

    @property
    def unreachable(self) -> bool:
        """Whether management is cut off. The device itself goes on, its timers included."""
        return self._cut

    @unreachable.setter
    def unreachable(self, cut: bool) -> None:
        """Switch from any thread. What is under way gets no answer."""
        self._cut = cut
        self._loop.call_soon_threadsafe(self._switch)

    async def set_unreachable(self, cut: bool) -> None:
        """Switch, and return when the change is in force."""
        self._cut = cut
        self._stop_listening()
        if not cut and self.port:
            await self.listen(self.address, self.port)

    def _switch(self) -> None:
        task = self._loop.create_task(self.set_unreachable(self._cut))
        task.add_done_callback(logged)

    def _stop_listening(self) -> None:
        if self._listener:
            self._listener.close()
            self._listener = None
        self._drop_connections()

    async def close(self) -> None:
        """Stop serving; the device stays as it is."""
        self._alarm.stop()
        self._stop_listening()


def logged(done: asyncio.Future[Any]) -> None:
    """Log what a task ended with, if that was an error."""
    if not done.cancelled() and done.exception():
        _LOG.error("%s", done.exception())

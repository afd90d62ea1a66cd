"""The door to a Linux host: one JSON request in, one JSON reply out, whatever happens in between.

The package is sent to `python3 -` on the host and loaded from memory under any name; nothing here needs a file.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any, Callable, Dict

from .errors import ProbeError

Json = Dict[str, Any]
# Where each verb lives. Only what a request needs is compiled: the program is sent anew each time.
VERBS = {
    "read": "state",
    "apply": "apply",
    "confirm": "apply",
    "persist": "boot",
    "unpersist": "boot",
    "release": "boot",
    "revert": "revert",
    "lift": "lift",
    "pin": "lift",
    "respond": "responder",
    "probe": "prober",
    "ping": "ping",
    "senders": "senders",
}


def run(request: Json) -> Json:
    """Do what a request says: `{"ok": true, ...}`, or `{"ok": false, "error": {...}}`; a traceback never leaves.

    `{"verb": "many", "requests": [...]}` does several, one after the other, up to the first that fails: a login costs
    more than most verbs. The reply has `replies`, as far as they went, and is ok where all are.
    """
    if isinstance(request, dict) and request.get("verb") == "many":
        return _many(request.get("requests") or [])
    try:
        return {"ok": True, **_verb(request)(request)}
    except ProbeError as problem:
        return {"ok": False, "error": problem.as_dict()}
    except Exception as error:  # noqa: BLE001
        return {"ok": False, "error": unforeseen(error).as_dict()}


def _many(requests: list[Json]) -> Json:
    replies: list[Json] = []
    for request in requests:
        replies.append(run(request))
        if not replies[-1]["ok"]:
            return {"ok": False, "error": replies[-1]["error"], "replies": replies}
    return {"ok": True, "replies": replies}


def _verb(request: Any) -> Callable[[Json], Json]:
    verb = request.get("verb") if isinstance(request, dict) else None
    if not isinstance(verb, str) or verb not in VERBS:
        message = f"{verb!r} is no verb"
        raise ProbeError(message, object="verb", wish=verb, limit=", ".join(VERBS))
    module = importlib.import_module(f".{VERBS[verb]}", __package__)
    return getattr(module, verb)  # type: ignore[no-any-return]


def unforeseen(error: BaseException) -> ProbeError:
    """Turn an error of ours, or of the system, into one that names where it was met."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    at = f"{trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace is not None else None
    if isinstance(error, OSError):
        named = f" ({error.filename})" if error.filename else ""
        message = f"the system refused: {error.strerror or error}{named}"
        return ProbeError(message, object=at, advice="see the rights and the disk space of this host")
    message = f"a fault of the program itself: {type(error).__name__}: {error}"
    return ProbeError(message, object=at, advice="report it; read the host before going on")


def main(text: str | None = None) -> int:
    """Run the JSON request given (or the program's first argument) and print the reply as one line of JSON."""
    if text is None:
        text = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        request = json.loads(text)
    except ValueError as error:
        problem = ProbeError(f"the request is not JSON: {error}", object="request")
        reply: Json = {"ok": False, "error": problem.as_dict()}
    else:
        reply = run(request)
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()
    return 0

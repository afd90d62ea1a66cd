"""The text that is sent to a Linux host's Python: the `probe` package, one request, and a small importer."""

from __future__ import annotations

import base64
import functools
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ansible_collections.jumbo.fabric.plugins.module_utils.probe as probe_package

MARK = "JUMBO-REPLY "
"""Precedes the reply's line: what a login shell or an interpreter prints before it is skipped."""

_PROGRAM = """
import base64, importlib.machinery, json, sys, zlib
SOURCES = json.loads(zlib.decompress(base64.b64decode("{sources}")))
class Memory:
    def find_spec(self, name, path=None, target=None):
        if name in SOURCES:
            return importlib.machinery.ModuleSpec(name, self, is_package=name == "jumbo_probe")
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec(compile(SOURCES[module.__name__], "<%s>" % module.__name__, "exec"), module.__dict__)
sys.meta_path.insert(0, Memory())
from jumbo_probe import host
reply = host.run(json.loads(zlib.decompress(base64.b64decode("{request}"))))
sys.stdout.write("{mark}" + json.dumps(reply) + "\\n")
"""


def program_text(request: Mapping[str, Any]) -> str:
    """Return a Python program for `python3 -` that carries out one request and writes nothing of itself to disk."""
    return _PROGRAM.format(sources=_sources(), request=_packed(dict(request)), mark=MARK)


def reply_of(output: str) -> dict[str, Any] | None:
    """Return the reply in what the program printed, None where there is none."""
    for line in output.splitlines():
        if line.startswith(MARK):
            try:
                reply = json.loads(line[len(MARK) :])
            except ValueError:  # the connection ended in the middle of it
                return None
            return reply if isinstance(reply, dict) else None
    return None


@functools.lru_cache(maxsize=1)
def _sources() -> str:
    folder = Path(next(iter(probe_package.__path__)))
    names = {
        ("jumbo_probe" if path.stem == "__init__" else f"jumbo_probe.{path.stem}"): path for path in folder.glob("*.py")
    }
    return _packed({name: path.read_text(encoding="utf-8") for name, path in names.items()})


def _packed(value: Any) -> str:
    return base64.b64encode(zlib.compress(json.dumps(value).encode())).decode()

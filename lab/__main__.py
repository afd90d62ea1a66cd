"""The lab's command line."""

from __future__ import annotations

import sys

try:
    from .cli import main
except ImportError as error:
    sys.exit(f"lab: the Python package {error.name} is missing. Run make setup, and use the Python in .venv/")

sys.exit(main())

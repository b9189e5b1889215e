"""Lets the tests of this folder import its modules, and the engines of the differential test."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "differential")]

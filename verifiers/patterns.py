"""The regular expression engine of patterns with possessive groups, `(?:...)*+`.

CPython 3.11.0 to 3.11.4, Debian 12's among them, match such groups wrongly (python/cpython#106052): fractions
and units would be misread without an error. There the `regex` package reads the same patterns, more slowly.
"""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11, 5):
    import re
else:
    import regex as re  # type: ignore[no-redef,unused-ignore]

__all__ = ["re"]

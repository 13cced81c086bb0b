# SPDX-License-Identifier: MIT
"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name to write to, which becomes `path` when the block ends well and is removed when it does not.

    The temporary name has the same suffix, and its folder is that of `path`, so that the change of name is one step.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix}")
    try:
        yield temporary
        temporary.replace(target)
    except OSError as error:
        if error.filename == str(temporary):
            error.filename = str(target)
        raise
    finally:
        temporary.unlink(missing_ok=True)

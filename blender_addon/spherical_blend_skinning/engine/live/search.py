# SPDX-License-Identifier: GPL-3.0-or-later
"""Find optimized centers in a thread, while the artist continues to work."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from ...core.binding import Binding


class _CancelledError(Exception):
    """Ends a search from within."""


class Search:
    """Finds the optimized centers of a binding by its faces (T, 3). The thread uses only arrays, nothing of Blender."""

    def __init__(self, binding: Binding, triangles: NDArray[np.int32]) -> None:
        self.binding = binding
        self.triangles = triangles
        self.fraction = 0.0  #: How much is done
        self.centers: NDArray[np.float32] | None = None  #: (V, 3): the result
        self.error: Exception | None = None  #: Why there is none
        self._is_cancelled = False
        self._thread = threading.Thread(target=self._run, name="SBS centers", daemon=True)
        _running.append(self._thread)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def cancel(self) -> None:
        """Make it end soon."""
        self._is_cancelled = True

    def _run(self) -> None:
        try:
            # One thread only, so that the artist has the others.
            self.centers = self.binding.optimized_centers(self.triangles, self._advance, threads=1)
        except _CancelledError:
            pass
        except Exception as error:  # for the thread that asks for the outcome
            self.error = error
        finally:
            _running.remove(self._thread)

    def _advance(self, fraction: float) -> None:
        self.fraction = fraction
        if self._is_cancelled or _is_ending:
            raise _CancelledError


_running: list[threading.Thread] = []
_is_ending = False


def wait_for_all() -> None:
    """Cancel all searches, and return when they have ended: no thread may remain when the add-on is disabled."""
    global _is_ending
    _is_ending = True
    for thread in list(_running):
        thread.join()
    _is_ending = False

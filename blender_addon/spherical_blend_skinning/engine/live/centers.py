# SPDX-License-Identifier: GPL-3.0-or-later
"""Optimized centers of bound objects. They are saved in the file, and found anew when weights or vertices change.

With a window, a thread searches for them after a pause without changes; until it has finished, the mesh is deformed
with the previous centers, or with weighted ones. Renders, bakes and scripts wait for them.
"""

from __future__ import annotations

import time
import warnings

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import library
from ...core.binding import Binding
from ...core.place import CenterSource
from ...settings.typed import mesh_of
from .. import reading
from ..stack import carriers, subject
from .search import Search

#: Seconds without changes before a search starts.
PAUSE = 0.5


class Centers:
    """The state of the optimized centers of an object."""

    def __init__(self) -> None:
        self.are_possible = True  #: Whether the faces, which are needed to find them, are known
        self.problem = ""  #: Why none were found, for the artist
        self._are_outdated = False
        # The source of the centers of the binding, and whether the carrier does not have them yet.
        self._source: CenterSource | None = None
        self._are_unsaved = False
        self._due: float | None = None
        self._search: Search | None = None

    @property
    def are_awaited(self) -> bool:
        """Whether a search is running or will start."""
        return self._due is not None or self._search is not None

    @property
    def note(self) -> str:
        """The status for the artist; empty if there is nothing to say."""
        if not self.are_possible:
            return "Pivots by weights: for the best ones, modifiers before may not change faces"
        if self._search is not None:
            return f"Finding pivots, {100.0 * self._search.fraction:.0f} %"
        return "Pivots are about to be found" if self._due is not None else self.problem

    def outdate(self) -> None:
        """Weights or vertices have changed: schedule a search after a pause."""
        self.stop()
        self._are_outdated = True
        self.problem = ""

    def stop(self) -> None:
        """Stop the search."""
        if self._search is not None:
            self._search.cancel()
        self._search = self._due = None

    def provide(
        self, target: subject.Subject, carrier: bpy.types.Object, binding: Binding, mesh: bool, at_once: bool
    ) -> Binding:
        """A binding with the centers that there are, maybe none; with `at_once` they are found if needed.

        `mesh` says whether the faces may have changed.
        """
        self.are_possible = target.has_faces()
        if not self.are_possible:
            self.stop()
            return binding
        if binding.centers is None:
            kept = carriers.centers(carrier, len(binding.surface.positions))
            self._source = carriers.center_source(carrier)
            if kept is not None and self._source is not None:
                binding = binding.with_centers(kept)
                # Much may have changed while the add-on was off, or the mesh could not be read.
                mesh = True
        if mesh and not self._are_outdated and self._source is not None:
            self._are_outdated = not binding.is_source(self._source, target.triangles())
        is_wanted = not self.problem and (self._are_outdated or binding.centers is None)
        if is_wanted and at_once:
            self.stop()
            _ignore_warnings()
            triangles = target.triangles()
            return self._found(binding, subject.optimized_centers(binding, triangles), triangles)
        if is_wanted and not self.are_awaited:
            # The first time without a pause, because nobody is changing weights.
            self._due = time.monotonic() + (PAUSE if self._are_outdated else 0.0)
        return binding

    def look(self, item: bpy.types.Object, binding: Binding) -> Binding:
        """Start the search when it is due; return the binding, with the result once the search has ended."""
        search = self._search
        if search is None:
            same_mesh = item.mode != "EDIT" and len(mesh_of(item).vertices) == len(binding.surface.positions)
            if self._due is not None and time.monotonic() >= self._due and same_mesh:
                _ignore_warnings()
                self._search, self._due = Search(binding, reading.triangles(mesh_of(item))), None
            return binding
        if search.is_running:
            return binding
        self._search = None
        if search.centers is None:
            self.problem = f"No pivots were found: {search.error}"
            return binding
        return self._found(binding, search.centers, search.triangles)

    def _found(self, binding: Binding, centers: NDArray[np.float32], triangles: NDArray[np.int32]) -> Binding:
        self._are_outdated = False
        self._source, self._are_unsaved = binding.center_source(triangles), True
        return binding.with_centers(centers)

    def save(self, carrier: bpy.types.Object, centers: NDArray[np.float32]) -> None:
        """Have a carrier keep the centers of the binding for the file, because finding them may take seconds."""
        if self._source is not None and (self._are_unsaved or not carriers.keeps_centers(carrier, len(centers))):
            carriers.keep_centers(carrier, centers, self._source)
            self._are_unsaved = False


def _ignore_warnings() -> None:
    """Ignore warnings about vertices without a center: it is fine that they are blended linearly."""
    # Permanently, because threads share the filters of warnings.
    warnings.simplefilter("ignore", library.load().CenterWarning)

# SPDX-License-Identifier: MIT
"""The output of ``sbs weights --check``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..character import Mesh
from ..weights import Influences, WeightCheck, WeightStatistics, check, statistics

SHOWN = 6  # how many numbers of a kind are listed


def findings(
    mesh: Mesh, influences: Influences, names: Sequence[str], max_influences: int | None
) -> tuple[bool, list[str]]:
    """Whether the weights of a mesh are without defects, and the lines to print."""
    found = check(
        *influences,
        len(names),
        positions=mesh.positions,
        triangles=mesh.triangles,
        max_influences=max_influences,
    )
    lines = [overview(statistics(*influences, len(names)))] if not len(found.bad_joints) else []
    lines += [f"{name.replace('_', ' ')}: {described(found, name)}" for name in found.defects()]
    if len(found.joints_without_weight):
        lines.append(f"joints without weight: {listed([names[joint] for joint in found.joints_without_weight])}")
    return found.ok, [*lines, "nothing wrong" if found.ok else "not all is well"]


def overview(facts: WeightStatistics) -> str:
    counts = ", ".join(
        f"{influences}: {count}" for influences, count in enumerate(facts.vertices_by_influences.tolist()) if count
    )
    return f"vertices by influences: {counts} (mean {facts.mean_influences:.2f})"


def described(found: WeightCheck, name: str) -> str:
    if name == "unweighted_islands":
        islands = found.unweighted_islands
        return f"{len(islands)}, of {listed([len(island) for island in islands])} vertices"
    return listed(getattr(found, name))


def listed(items: ArrayLike) -> str:
    """The first few items, and how many there are."""
    words = [str(item) for item in np.asarray(items).tolist()]
    if len(words) <= SHOWN:
        return ", ".join(words)
    return f"{', '.join(words[:SHOWN])}, ... ({len(words)})"

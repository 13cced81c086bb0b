# SPDX-License-Identifier: MIT
"""The output of ``sbs weights --check``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..weights import Influences, WeightCheck, WeightStatistics, statistics

SHOWN = 6  # how many numbers of a kind are listed


def describe_for_json(found: WeightCheck, influences: Influences, names: Sequence[str]) -> dict[str, Any]:
    """All that was found: the numbers of vertices by defects, of islands the vertices of each."""
    facts: dict[str, Any] = {"ok": found.ok}
    if not len(found.bad_joints):
        counts = statistics(*influences, len(names)).vertices_by_influences.tolist()
        facts["vertices_by_influences"] = {str(size): count for size, count in enumerate(counts) if count}
    facts["defects"] = {
        name: [island.tolist() for island in found.unweighted_islands]
        if name == "unweighted_islands"
        else getattr(found, name).tolist()
        for name in found.defects()
    }
    return facts | {"joints_without_weight": [names[joint] for joint in found.joints_without_weight]}


def describe_findings(found: WeightCheck, influences: Influences, names: Sequence[str]) -> list[str]:
    """The lines to print."""
    lines = [describe_statistics(statistics(*influences, len(names)))] if not len(found.bad_joints) else []
    lines += [f"{name.replace('_', ' ')}: {describe_defect(found, name)}" for name in found.defects()]
    if len(found.joints_without_weight):
        lines.append(f"joints without weight: {list_items([names[joint] for joint in found.joints_without_weight])}")
    return [*lines, "nothing wrong" if found.ok else "not all is well"]


def describe_statistics(facts: WeightStatistics) -> str:
    counts = ", ".join(
        f"{influences}: {count}" for influences, count in enumerate(facts.vertices_by_influences.tolist()) if count
    )
    return f"vertices by influences: {counts} (mean {facts.mean_influences:.2f})"


def describe_defect(found: WeightCheck, name: str) -> str:
    if name == "unweighted_islands":
        islands = found.unweighted_islands
        return f"{len(islands)}, of {list_items([len(island) for island in islands])} vertices"
    return list_items(getattr(found, name))


def list_items(items: ArrayLike) -> str:
    """The first few items, and how many there are."""
    words = [str(item) for item in np.asarray(items).tolist()]
    if len(words) <= SHOWN:
        return ", ".join(words)
    return f"{', '.join(words[:SHOWN])}, ... ({len(words)})"

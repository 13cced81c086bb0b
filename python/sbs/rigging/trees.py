# SPDX-License-Identifier: MIT
"""Trees of joints and nodes, by the parent of each."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CircleError", "find_depths"]


class CircleError(ValueError):
    """Parents that run in a circle; `node` is one from which they lead to no root."""

    def __init__(self, node: int) -> None:
        super().__init__(f"the parents of {node} run in a circle")
        self.node = node


def find_depths(parents: Sequence[int]) -> list[int]:
    """The depth of each node, 0 for roots, whose parent is -1.

    Raises
    ------
    CircleError
        If a node has no root above it.
    """
    found = [0 if parent < 0 else -1 for parent in parents]
    for start in range(len(parents)):
        chain: list[int] = []
        node = start
        while found[node] < 0:
            if len(chain) > len(parents):
                raise CircleError(start)
            chain.append(node)
            node = parents[node]
        for depth, member in enumerate(reversed(chain), found[node] + 1):
            found[member] = depth
    return found

# SPDX-License-Identifier: MIT
"""The node tree of a glTF file."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...rigging.rig import Floats, Rig, compose, decompose
from ...rigging.trees import CircleError, find_depths
from ...rigging.twist_drivers import TwistDriver
from .document import Document, Element

AFFINE = 1e-4
"""The most by which the last row of an affine matrix may differ from (0, 0, 0, 1): inverting in float32 rounds it."""

# Of the largest number: matrices that are this near to T R S may be moved by animations.
_SHEAR = 1e-5


def read_parents(document: Document) -> list[int]:
    """Parent of every node of the file, -1 for roots. Raises FileError if the nodes are not a forest."""
    nodes = document.all("nodes")
    parents = [-1] * len(nodes)
    for number, node in enumerate(nodes):
        for child in node.integers("children"):
            document.get("nodes", child, node, "children")
            if parents[child] >= 0:
                raise node.error(f"node {child} is a child of node {parents[child]} already", "children")
            parents[child] = number
    try:
        find_depths(parents)
    except CircleError as error:
        raise nodes[error.node].error("its parents run in a circle") from None
    return parents


def ancestry(nodes: Iterable[int], parents: list[int]) -> list[int]:
    """The nodes and all nodes above them, each after its parent."""
    found: set[int] = set()
    order: list[int] = []
    for start in nodes:
        chain = []
        node = start
        while node >= 0 and node not in found:
            found.add(node)
            chain.append(node)
            node = parents[node]
        order.extend(reversed(chain))
    return order


def nodes_in_scene(document: Document, parents: list[int]) -> list[int]:
    """The nodes of the file's default scene, or all nodes if it has no scenes, ascending."""
    if not document.all("scenes"):
        return list(range(len(parents)))
    scene = document.get("scenes", document.root.integer("scene", 0), document.root, "scene")
    shown = set(scene.integers("nodes"))
    for node in ancestry(range(len(parents)), parents):
        if parents[node] in shown:
            shown.add(node)
    return sorted(node for node in shown if node < len(parents))


def read_rig(document: Document, joints: list[int], parents: list[int], inverse_bind_matrices: Floats) -> Rig:
    """The rig of joints (node numbers), with all nodes above and between them.

    A joint whose node is that of a joint before gets a node of its own below that one, behind all others.
    """
    order = ancestry(joints, parents)
    number = {-1: -1} | {node: i for i, node in enumerate(order)}
    elements = [document.all("nodes")[node] for node in order]
    translations = np.array([node.numbers("translation", [0.0] * 3) for node in elements])
    scales = np.array([node.numbers("scale", [1.0] * 3) for node in elements])
    quaternions = np.array([node.numbers("rotation", [0.0, 0.0, 0.0, 1.0]) for node in elements])[:, [3, 0, 1, 2]]
    largest = np.abs(quaternions).max(axis=1, keepdims=True)
    for node in np.flatnonzero(largest == 0.0)[:1]:
        raise elements[node].error("a quaternion of length 0", "rotation")
    # Divide by the largest component first, so that no square under- or overflows.
    quaternions /= largest
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    local_matrices = compose(translations, quaternions, scales)
    has_matrix = np.array(["matrix" in node for node in elements])
    for node in np.flatnonzero(has_matrix):
        local_matrices[node] = _matrix(elements[node])
    moved = _moved_nodes(document) if has_matrix.any() else set()
    for node in np.flatnonzero(has_matrix):
        matrix = local_matrices[node]
        if order[node] in moved and np.linalg.det(matrix[:3, :3]) != 0.0:
            parts = decompose(matrix)
            if np.abs(compose(*parts) - matrix).max() <= _SHEAR * np.abs(matrix).max():
                translations[node], quaternions[node], scales[node] = parts
                has_matrix[node] = False
    nodes = np.array([number[node] for node in joints])
    again = np.setdiff1d(np.arange(len(nodes)), np.unique(nodes, return_index=True)[1])
    names = [node.string("name", "") for node in elements]
    twists = (TwistDriver.read(place, node.anything("extras")) for place, node in enumerate(elements))
    added, above = len(again), nodes[again]
    nodes[again] = len(order) + np.arange(added)
    return Rig(
        names=(*names, *(names[node] for node in above)),
        parents=np.array([*(number[parents[node]] for node in order), *above], dtype=np.int32),
        translations=np.concatenate([translations, np.zeros((added, 3))]),
        quaternions=np.concatenate([quaternions, np.tile([1.0, 0.0, 0.0, 0.0], (added, 1))]),
        scales=np.concatenate([scales, np.ones((added, 3))]),
        local_matrices=np.concatenate([local_matrices, np.tile(np.eye(4), (added, 1, 1))]),
        has_matrix=np.concatenate([has_matrix, np.zeros(added, np.bool_)]),
        joints=nodes,
        inverse_bind_matrices=inverse_bind_matrices,
        twists=tuple(twist for twist in twists if twist),
    )


def _moved_nodes(document: Document) -> set[int]:
    """The nodes that an animation moves. By the rules of glTF they have no matrix, but some programs write one."""
    targets = [
        channel.child("target")
        for animation in document.all("animations")
        for channel in animation.children("channels")
    ]
    return {target.integer("node") for target in targets if "node" in target}


def _matrix(node: Element) -> Floats:
    matrix = np.array(node.numbers("matrix", np.eye(4).ravel().tolist())).reshape(4, 4).T
    if not np.allclose(matrix[3], [0.0, 0.0, 0.0, 1.0], rtol=0.0, atol=AFFINE):
        raise node.error("the last row is not (0, 0, 0, 1)", "matrix")
    matrix[3] = [0.0, 0.0, 0.0, 1.0]
    return matrix

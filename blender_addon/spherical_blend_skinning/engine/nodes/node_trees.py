# SPDX-License-Identifier: GPL-3.0-or-later
"""Node trees by script, in all versions of Blender since 3.4."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import bpy

from ...settings.typed import owner_of
from ..identity import key_of

# Identifiers of inputs, by tree and name: asking a tree takes longer than everything else in a frame.
_identifiers: dict[tuple[int | str, str], str] = {}


def forget() -> None:
    """Forget all trees, because another file is open."""
    _identifiers.clear()


def new_tree(name: str) -> bpy.types.NodeTree:
    """An empty geometry node group that modifiers can use."""
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    if hasattr(tree, "is_modifier"):
        tree.is_modifier = True
    return tree


def add_socket(tree: bpy.types.NodeTree, name: str, kind: str, in_out: Literal["INPUT", "OUTPUT"] = "INPUT") -> None:
    """Give a group an input or output of a type such as ``"NodeSocketGeometry"``."""
    if interface := _interface(tree):
        interface.new_socket(name, in_out=in_out, socket_type=kind)
    else:
        before_4: Any = tree
        (before_4.inputs if in_out == "INPUT" else before_4.outputs).new(kind, name)


def hide_inputs(tree: bpy.types.NodeTree) -> None:
    """Hide the inputs of a group in the panel of its modifier, if this Blender can."""
    for item in _inputs(tree):
        if hasattr(item, "hide_in_modifier"):
            item.hide_in_modifier = True


def socket(sockets: Iterable[bpy.types.NodeSocket], name: str) -> bpy.types.NodeSocket:
    """The active socket with that name: nodes with several data types have one for each."""
    for candidate in sockets:
        if candidate.name == name and candidate.enabled:
            return candidate
    raise KeyError(f"no socket {name}")


def input_identifier(tree: bpy.types.NodeTree, name: str) -> str:
    """The key of a group's input in the properties of a modifier."""
    key = (key_of(tree), name)
    if key not in _identifiers:
        found = next((item for item in _inputs(tree) if item.name == name), None)
        if found is None:
            raise KeyError(f"no input {name} in {tree.name}")
        _identifiers[key] = str(found.identifier)
    return _identifiers[key]


def _interface(tree: bpy.types.NodeTree) -> bpy.types.NodeTreeInterface | None:
    """The inputs and outputs of a group; None before Blender 4.0, where the group has them itself."""
    return getattr(tree, "interface", None)


def _inputs(tree: bpy.types.NodeTree) -> list[Any]:
    if interface := _interface(tree):
        items: list[Any] = list(interface.items_tree)
        return [item for item in items if item.item_type == "SOCKET" and item.in_out == "INPUT"]
    before_4: Any = tree
    return list(before_4.inputs)


def group_of(modifier: bpy.types.NodesModifier) -> bpy.types.NodeTree:
    """The group of a modifier, which one of ours always has."""
    if modifier.node_group is None:
        raise ValueError(f"{modifier.name} has no node group")
    return modifier.node_group


def get_input(modifier: bpy.types.NodesModifier, name: str) -> Any:
    """The value of an input of a modifier that has a group."""
    identifier = input_identifier(group_of(modifier), name)
    if hasattr(modifier, "properties"):
        return getattr(modifier.properties.inputs, identifier).value
    return modifier.get(identifier)


def set_input(modifier: bpy.types.NodesModifier, name: str, value: Any) -> None:
    """Set an input of a modifier that has a group, so that the next evaluation uses it."""
    identifier = input_identifier(group_of(modifier), name)
    if hasattr(modifier, "properties"):
        getattr(modifier.properties.inputs, identifier).value = value
    else:
        modifier[identifier] = value
    # Setting an object by script does not update the dependency graph; setting the group does.
    modifier.node_group = modifier.node_group
    owner_of(modifier).update_tag()

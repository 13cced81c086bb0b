# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights are read alike out of memory and vertex by vertex."""

from __future__ import annotations

import addon
import bpy
import pytest
import rigs
from objects import MeshObject, mesh_object


@pytest.fixture
def tube() -> MeshObject:
    return rigs.make_tube(bones=7, rows=80)


def assert_same(item: MeshObject) -> None:
    slow = addon.module("engine.reading").vertex_weights_one_by_one(item.data)
    fast = addon.module("engine.deform_vertices").read(item)
    assert fast is not None, "memory is not as expected"
    assert not len(fast.differing(slow))
    assert slow.groups.shape == slow.weights.shape


def test_memory(tube: MeshObject) -> None:
    assert_same(tube)
    for _ in range(3):
        tube.vertex_groups[2].add(list(range(300)), 0.123, "REPLACE")
        assert_same(tube)


def test_memory_with_vertices_without_weights(tube: MeshObject) -> None:
    for group in tube.vertex_groups:
        group.remove(list(range(0, len(tube.data.vertices), 3)))
    assert_same(tube)


def test_memory_of_evaluated_mesh(tube: MeshObject) -> None:
    tube.modifiers.new("Subdivision", "SUBSURF")
    assert_same(tube.evaluated_get(bpy.context.evaluated_depsgraph_get()))


def test_memory_with_other_layers(tube: MeshObject) -> None:
    mesh = tube.data
    for number in range(20):
        mesh.attributes.new(f"Layer {number}", "FLOAT_VECTOR", "POINT")
        mesh.attributes.new(f"Number {number}", "FLOAT", "FACE")
    mesh.uv_layers.new()
    tube.shape_key_add(name="Basis")
    assert_same(tube)


def test_no_weights_at_all() -> None:
    mesh = bpy.data.meshes.new("Empty")
    item = mesh_object(bpy.data.objects.new("Empty", mesh))
    reading = addon.module("engine.reading")
    assert len(reading.vertex_weights(item).groups) == 0
    mesh.vertices.add(5)
    weights = reading.vertex_weights(item)
    assert weights.groups.tolist() == [[-1]] * 5
    assert weights.weights.tolist() == [[0.0]] * 5


def test_one_by_one(tube: MeshObject) -> None:
    weights = addon.module("engine.reading").vertex_weights_one_by_one(tube.data)
    for vertex in tube.data.vertices:
        count = len(vertex.groups)
        assert weights.groups[vertex.index, :count].tolist() == [entry.group for entry in vertex.groups]
        assert weights.weights[vertex.index, :count].tolist() == [entry.weight for entry in vertex.groups]
        assert (weights.groups[vertex.index, count:] == -1).all()
        assert (weights.weights[vertex.index, count:] == 0.0).all()


def test_memory_where_there_are_no_records(tube: MeshObject, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {(8 * to_layers, 8 * to_data): None for to_layers in range(64) for to_data in range(32)}
    monkeypatch.setattr(addon.module("engine.deform_vertices"), "_places", wrong)
    assert_same(tube)

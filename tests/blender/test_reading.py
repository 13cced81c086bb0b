# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights are read into arrays."""

from __future__ import annotations

import addon
import bpy
import rigs
from objects import mesh_object


def test_no_weights_at_all() -> None:
    mesh = bpy.data.meshes.new("Empty")
    item = mesh_object(bpy.data.objects.new("Empty", mesh))
    reading = addon.module("engine.reading")
    assert len(reading.vertex_weights(item).groups) == 0
    mesh.vertices.add(5)
    weights = reading.vertex_weights(item)
    assert weights.groups.tolist() == [[-1]] * 5
    assert weights.weights.tolist() == [[0.0]] * 5


def test_vertices_of_different_numbers_of_groups() -> None:
    tube = rigs.make_tube(bones=7, rows=80)
    tube.vertex_groups[2].add(list(range(300)), 0.123, "REPLACE")
    for group in tube.vertex_groups:
        group.remove(list(range(0, len(tube.data.vertices), 3)))
    weights = addon.module("engine.reading").vertex_weights(tube)
    for vertex in tube.data.vertices:
        count = len(vertex.groups)
        assert weights.groups[vertex.index, :count].tolist() == [entry.group for entry in vertex.groups]
        assert weights.weights[vertex.index, :count].tolist() == [entry.weight for entry in vertex.groups]
        assert (weights.groups[vertex.index, count:] == -1).all()
        assert (weights.weights[vertex.index, count:] == 0.0).all()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The hooks that Blender's glTF exporter calls in add-ons."""

from __future__ import annotations

from typing import Any


class glTF2ExportUserExtension:
    """Keeps bellies and handles of muscles out of files, and our settings, where custom properties are exported.

    The exporter finds children of an armature even where they are in no collection.
    """

    def gather_tree_filter_tag_hook(self, tree: Any, _settings: object) -> None:
        from ..settings.muscles import is_part  # the core is also imported where there is no Blender

        for node in tree.nodes.values():
            if node.blender_object is not None and is_part(node.blender_object):
                node.keep_tag = False

    def gather_node_hook(self, node: Any, _item: object, _settings: object) -> None:
        self._take_out(node)

    def gather_joint_hook(self, node: Any, _bone: object, _settings: object) -> None:
        self._take_out(node)

    def gather_mesh_hook(self, mesh: Any, *_others: object) -> None:
        if isinstance(mesh.extras, dict):
            mesh.extras = {k: v for k, v in mesh.extras.items() if not k.startswith("sbs_corrective_")} or None

    def _take_out(self, node: Any) -> None:
        if isinstance(node.extras, dict) and node.extras.pop("sbs", None) is not None:
            node.extras = node.extras or None

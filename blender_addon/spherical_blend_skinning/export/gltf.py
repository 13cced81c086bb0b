# SPDX-License-Identifier: GPL-3.0-or-later
"""The hooks that Blender's glTF exporter calls in add-ons."""

from __future__ import annotations

from typing import Any

__all__ = ["glTF2ExportUserExtension"]


class glTF2ExportUserExtension:
    """Keeps our settings of objects and bones out of files, where the artist has custom properties exported."""

    def gather_node_hook(self, node: Any, _item: object, _settings: object) -> None:
        self._take_out(node)

    def gather_joint_hook(self, node: Any, _bone: object, _settings: object) -> None:
        self._take_out(node)

    def _take_out(self, node: Any) -> None:
        if isinstance(node.extras, dict) and node.extras.pop("sbs", None) is not None:
            node.extras = node.extras or None

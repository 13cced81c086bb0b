# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of operators: they refuse with a reason, and report their result."""

from __future__ import annotations

import bpy

from ..settings.typed import OperatorMixin, Result
from . import rigged


class Action(OperatorMixin):
    """An operator that can be undone; to be mixed into a `bpy.types.Operator`."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def hindrance(cls, _context: bpy.types.Context) -> str:
        """Why it cannot run now, for the artist, who sees it at the button; empty if it can."""
        return ""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        reason = cls.hindrance(context)
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def run(self, context: bpy.types.Context) -> str | None:
        """Carry the operator out, and return its report; an empty one is not shown.

        None says that nothing was done, and that the reason is reported already. A ValueError or an OSError says so,
        too, and is reported.
        """

    def execute(self, context: bpy.types.Context) -> Result:
        try:
            done = self.run(context)
        except (ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if done:
            self.report({"INFO"}, done)
        return {"CANCELLED"} if done is None else {"FINISHED"}


class RiggedAction(Action):
    """An operator that changes the meshes of `rigged.find`."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        return rigged.hindrance_to_change(context)

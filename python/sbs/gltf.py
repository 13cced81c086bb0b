# SPDX-License-Identifier: MIT
"""The error and the warning of files that hold characters."""

from .rigging.content import FileError, FileWarning

__all__ = ["FileError", "FileWarning"]

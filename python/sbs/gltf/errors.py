# SPDX-License-Identifier: MIT
"""What can be said against a file."""


class FileError(ValueError):
    """A file that cannot be read as a skinned character. The message names the file and the element at fault."""


class FileWarning(UserWarning):
    """A part of a file that is left out, or read in another way than it is stored."""

# SPDX-License-Identifier: MIT
"""What the package needs besides skinning: files, texts, names, optional packages, warnings at the caller's line."""

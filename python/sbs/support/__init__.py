# SPDX-License-Identifier: MIT
"""Tools that know nothing of skinning: files, texts, names, optional packages, warnings at the caller's line."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""Finer faces where bones bend the mesh."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscles of an armature: placed by hand or in a human body, mirrored, and listed with the change of their volume."""

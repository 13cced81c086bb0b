# SPDX-License-Identifier: GPL-3.0-or-later
"""Correctives: shapes that are sculpted in a pose, and that the pose drives."""

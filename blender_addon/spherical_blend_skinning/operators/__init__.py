# SPDX-License-Identifier: GPL-3.0-or-later
"""What the artist can do: each operator asks for what it needs, calls one function and tells what came of it."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""The modifiers of a bound object, and their input."""

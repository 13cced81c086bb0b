# SPDX-License-Identifier: MIT
"""Marks for tests that do not apply on every platform; conftest.py says how they work."""

import importlib.util

import pytest

paints = pytest.mark.applies(importlib.util.find_spec("mitsuba") is not None, reason="pictures need mitsuba")
computes = pytest.mark.applies(importlib.util.find_spec("wgpu") is not None, reason="graphics processors need wgpu")

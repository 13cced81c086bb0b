# SPDX-License-Identifier: MIT
"""Characters: loaded, deformed and saved whole, with the twist of their limbs."""

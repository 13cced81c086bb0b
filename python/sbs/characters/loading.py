# SPDX-License-Identifier: MIT
"""Characters and motions from files, whatever their format."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from ..rigging.content import FileError, FileWarning, Wanted, uneven_node
from ..rigging.motion import Motion
from ..rigging.parts import part_numbers, selected
from ..support.callers import about, warn
from ..support.text import well_formed
from .character import Character, PathLike

__all__ = ["load", "load_motion"]


def load(
    path: PathLike, *, strict: bool = False, skin: int | None = None, mesh: str | Sequence[str] | None = None
) -> Character:
    """Read a skinned character from a file: glTF 2.0 (.glb, .gltf), or another format that ``sbs formats`` lists.

    All meshes on one skeleton become one, one behind the other; `Character.parts` has them one by one. Skins may differ
    in the joints that they list, and in the space that their meshes were bound in. Strips and fans are converted to
    triangles; points, lines and meshes without a skin are left out. Morph targets become `Mesh.shapes`.
    If only some primitives have normals, the others get area-weighted ones. The mesh and the bind pose are brought to
    where the file's own pose has the root of the skeleton. If that pose also scales all joints alike (an armature
    scaled by 100, for instance), so are the mesh and the bind pose, and skinning matrices are rigid.

    Parameters
    ----------
    path : str or path-like
    strict : bool, optional
        Refuse weights that need a repair (NaN, negative, a sum that is not 1, ...), see `Skin`.
    skin : int, optional
        Of several skeletons the one that the skin of this number in the file is on. By default the one with the most
        vertices.
    mesh : str or sequence of str, optional
        Names of the meshes to read: in glTF those of their nodes, in FBX and USD those of the objects. By default all.

    Returns
    -------
    Character

    Raises
    ------
    ValueError
        If the file is damaged, has no skin, or is compressed (Draco, meshopt), or its format is not known; the message
        names the file and the element. If no mesh has the name. Under `strict`, if weights need a repair.
    MissingExtraError
        If the format needs a package that is not installed.
    OSError
        If the file cannot be read.

    Warns
    -----
    WeightWarning
        Weights were repaired.
    UserWarning
        Something in the file was left out.

    Examples
    --------
    >>> import sbs
    >>> hand = sbs.samples.load("hand")
    >>> hand
    <sbs.Character 'hand', vertices: 1360, joints: 25, animations: 1>
    >>> hand.animations
    (<sbs.Animation 'fist', 1 s>,)
    >>> hand.skin.deform(hand.animations[0].skinning_matrices(0.5)).shape
    (1360, 3)
    """
    from .. import formats

    source = pathlib.Path(path)
    read = formats.recognized(source).read
    assert read is not None  # a format with that role has one
    names = [mesh] if isinstance(mesh, str) else list(mesh or ())
    if mesh is not None and not names:
        raise ValueError("mesh has no names")
    content = read(source, Wanted(skin, tuple(names)))
    name = well_formed(source.stem)
    with about(str(source)):
        for remark in content.remarks:
            warn(remark, FileWarning)
        uneven = uneven_node(content.rig)
        if uneven is not None:
            warn(
                f"node {uneven!r} has different scales along its axes, so joints below it shear as they turn. Linear"
                " blending is right all the same, other methods are not: apply the scale where the file was made",
                FileWarning,
            )
        try:
            whole = content.surface.as_mesh() if content.mesh is None else content.mesh
            numbers = part_numbers(whole, names) if names else range(len(whole.parts))
            surface, animations, options = whole, content.animations, content.options
            kept = content.source
            if len(numbers) < len(whole.parts):
                part = selected(whole, animations, options, kept, numbers)
                surface, animations, options, kept = part.mesh, part.animations, part.options, part.source
            return Character(name, surface, content.skeleton, content.rig, animations, strict, options, kept)
        except ValueError as error:
            raise FileError(f"{source}: {error}") from error


def load_motion(path: PathLike) -> Motion:
    """Reads a motion without a mesh, from a BVH file; ``motion.onto(character)`` brings it onto a character.

    Raises
    ------
    ValueError
        If the file is damaged, or its format is not known; the message names the file.
    OSError
        If the file cannot be read.
    """
    from .. import formats

    source = pathlib.Path(path)
    read = formats.recognized(source, "motion").motion
    assert read is not None  # a format with that role has one
    return read(source)

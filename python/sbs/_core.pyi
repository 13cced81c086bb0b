# SPDX-License-Identifier: MIT
from collections.abc import Callable, Mapping, Sequence
from typing import Any as _Any
from typing import Literal, TypedDict, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .mesh.subdivision import Scheme as _Scheme
from .options import Center as _Center
from .options import Floats as _Floats
from .options import MethodName as _Method
from .options import Rotation as _Rotation
from .weights.brush import Axis as _Axis
from .weights.brush import Distance as _Distance
from .weights.brush import Falloff as _BrushFalloff
from .weights.brush import Mode as _BrushMode
from .weights.capsules import Falloff as _CapsuleFalloff
from .weights.capsules import Outside as _Outside

_Joined = Literal["sees no bone", "tiny", "no triangles"]
_Trouble = Literal[
    "",
    "the mesh has no surface",
    "the surface is in tiny pieces",
    "the surface sees no bone",
    "the heat equation has no finite solution",
]

version: str

class _BuildInfo(TypedDict):
    version: str
    instruction_set: str
    instruction_sets: list[str]
    lapack: str

def build_info() -> _BuildInfo: ...
def set_threads(threads: int | None, /) -> None: ...
def get_threads() -> int: ...
def owned(array: ArrayLike, name: str, dtype: DTypeLike | None = None) -> NDArray[_Any]: ...
def weld(positions: ArrayLike) -> NDArray[np.int32]: ...  # (V, 3) -> (V,)
def check_skin(
    rest_positions: ArrayLike,  # (V, 3)
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    parents: ArrayLike | None = None,  # (J,)
    joint_positions: ArrayLike | None = None,  # (J, 3)
    rest_normals: ArrayLike | None = None,  # (V, 3)
    centers: ArrayLike | None = None,  # (V, 3)
    joint_count: int | None = None,
    twist: Twist | None = None,
    strict: bool = False,
) -> tuple[int, int, int, int, int, int]: ...  # as Skin.weight_report
def tidy_weights(
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    joint_count: int | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64], int]: ...  # (V, K), (V, K), the most of a vertex
def clean_weights(
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    normalize: bool = True,
    limit: int | None = None,
    threshold: float = 0.0,
    locked: ArrayLike | None = None,  # (L,)
) -> tuple[NDArray[np.int32], _Floats, tuple[int, int, int, int]]: ...  # (V, K), (V, K), counts
def smooth_weights(
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    *,
    iterations: int = 1,
    strength: float = 0.5,
    limit: int | None = None,
    mask: ArrayLike | None = None,  # (V,)
    locked: ArrayLike | None = None,  # (L,)
    normalize: bool = True,
) -> tuple[NDArray[np.int32], _Floats]: ...  # (V, limit), (V, limit)
def bone_tails(
    parents: ArrayLike,  # (J,)
    joint_positions: ArrayLike,  # (J, 3)
) -> NDArray[np.float64]: ...  # (J, 3)
def blend_bones(
    rest_positions: ArrayLike,  # (V, 3)
    parents: ArrayLike,  # (J,)
    joint_positions: ArrayLike,  # (J, 3)
    inverse_bind_matrices: ArrayLike,  # (J, 3, 4)
    names: Sequence[str],  # (J,)
    *,
    tails: ArrayLike | None = None,  # (J, 3)
    t_min: ArrayLike | None = None,  # (J,)
    t_max: ArrayLike | None = None,  # (J,)
    blended: ArrayLike | None = None,  # (J,) bool
    attachment: ArrayLike | None = None,  # (V,)
    joint_indices: ArrayLike | None = None,  # (V, K)
    joint_weights: ArrayLike | None = None,  # (V, K)
) -> tuple[
    NDArray[np.int32],  # (V,)
    NDArray[np.float64],  # (V,)
    NDArray[np.float64],  # (J,)
    NDArray[np.float64],  # (J,)
    NDArray[np.int32],  # (V, W)
    NDArray[np.float64],  # (V, W)
    NDArray[np.float64],  # (V, 3)
    NDArray[np.bool_],  # (V,)
]: ...
def adjacency(
    triangles: ArrayLike,  # (T, 3)
    representatives: ArrayLike,  # (V,)
) -> tuple[NDArray[np.intp], NDArray[np.int32]]: ...  # (V + 1,), (offsets[-1],)
def subdivide(
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    representatives: ArrayLike,  # (V,)
    chosen: ArrayLike,  # (T,) bool
    *,
    scheme: _Scheme = "1:4",
    levels: int = 1,
) -> tuple[
    NDArray[np.int32],  # (N, 3)
    NDArray[np.float64],  # (N, 3)
    NDArray[np.int32],  # (T', 3)
    NDArray[np.int32],  # (T',)
]: ...
def curvature(
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    representatives: ArrayLike,  # (V,)
) -> NDArray[np.float64]: ...  # (T,)
def islands(triangles: ArrayLike, vertex_count: int) -> NDArray[np.int32]: ...  # (T, 3) -> (V,)
def nearest_on_surface(
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    points: ArrayLike,  # (N, 3)
    *,
    point_labels: ArrayLike | None = None,  # (N,)
    triangle_labels: ArrayLike | None = None,  # (T,)
    threads: int | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...  # (N,), (N, 3), (N,)
def segments_blocked(
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    starts: ArrayLike,  # (N, 3)
    ends: ArrayLike,  # (N, 3)
    *,
    start_vertices: ArrayLike | None = None,  # (N,)
    threads: int | None = None,
) -> NDArray[np.bool_]: ...  # (N,)
def check_capsules(
    heads: ArrayLike,  # (J, 3)
    tails: ArrayLike,  # (J, 3)
    inner_radii: ArrayLike,  # (J, 2)
    outer_radii: ArrayLike,  # (J, 2)
    multipliers: ArrayLike | None = None,  # (J,)
    enabled: ArrayLike | None = None,  # (J,)
    falloffs: ArrayLike | None = None,  # (J,)
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.bool_],
    NDArray[np.int32],
]: ...
def capsule_weights(
    points: ArrayLike,  # (V, 3)
    heads: ArrayLike,  # (J, 3)
    tails: ArrayLike,  # (J, 3)
    inner_radii: ArrayLike,  # (J, 2)
    outer_radii: ArrayLike,  # (J, 2)
    multipliers: ArrayLike | None = None,  # (J,)
    enabled: ArrayLike | None = None,  # (J,)
    falloffs: ArrayLike | None = None,  # (J,)
    *,
    falloff: _CapsuleFalloff = "linear",
    outside: _Outside = "nearest",
    limit: int | None = None,
    threads: int | None = None,
) -> tuple[NDArray[np.int32], _Floats]: ...  # (V, K), (V, K)
def capsule_weights_dense(
    points: ArrayLike,  # (V, 3)
    heads: ArrayLike,  # (J, 3)
    tails: ArrayLike,  # (J, 3)
    inner_radii: ArrayLike,  # (J, 2)
    outer_radii: ArrayLike,  # (J, 2)
    multipliers: ArrayLike | None = None,  # (J,)
    enabled: ArrayLike | None = None,  # (J,)
    falloffs: ArrayLike | None = None,  # (J,)
    *,
    falloff: _CapsuleFalloff = "linear",
    outside: _Outside = "nearest",
    limit: int | None = None,
    threads: int | None = None,
) -> _Floats: ...  # (V, J)
def count_outside(
    points: ArrayLike,  # (V, 3)
    heads: ArrayLike,  # (J, 3)
    tails: ArrayLike,  # (J, 3)
    inner_radii: ArrayLike,  # (J, 2)
    outer_radii: ArrayLike,  # (J, 2)
    multipliers: ArrayLike | None = None,  # (J,)
    enabled: ArrayLike | None = None,  # (J,)
    falloffs: ArrayLike | None = None,  # (J,)
    *,
    threads: int | None = None,
) -> int: ...
def optimized_centers(
    rest_positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    sigma: float = 0.1,
    refinement: float = 0.1,
    tolerance: float = 1e-2,
    progress: Callable[[float], object] | None = None,
    threads: int | None = None,
) -> tuple[NDArray[np.float64], tuple[int, int, int]]: ...  # (V, 3), counts
def fit_centers(
    rest_positions: ArrayLike,  # (V, 3)
    posed: ArrayLike,  # (F, V, 3)
    skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    centers: ArrayLike | None = None,  # (V, 3)
    threads: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...  # (V, 3), (V,)
def fit_matrices(
    rest_positions: ArrayLike,  # (V, 3)
    posed: ArrayLike,  # (F, V, 3)
    skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    fixed: ArrayLike | None = None,  # (J,)
    sweeps: int | None = 10,
    threads: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...  # (F, J, 3, 4), (F,)
def fit_weights(
    rest_positions: ArrayLike,  # (V, 3)
    posed: ArrayLike,  # (F, V, 3)
    skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
    *,
    method: _Method = "spherical",
    center: _Center = "weighted",
    damping: float = 1e-8,
    influences: int | None = 4,
    iterations: int | None = 30,
    centers: ArrayLike | None = None,  # (V, 3)
    allowed: ArrayLike | None = None,  # (V, J)
    toward: ArrayLike | None = None,  # (V, J)
    pull: float = 0.0,
    threads: int | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...  # (V, K), (V, K), (V,)
def heat_weights(
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    heads: ArrayLike,  # (J, 3)
    tails: ArrayLike,  # (J, 3)
    *,
    enabled: ArrayLike | None = None,  # (J,)
    strength: float = 4.0,
    limit: int | None = None,
    prune: float = 1e-3,
    progress: Callable[[float], object] | None = None,
    threads: int | None = None,
) -> tuple[
    tuple[NDArray[np.int32], NDArray[np.float64]] | None,  # (V, L) twice
    NDArray[np.int32],  # (V,)
    list[tuple[int, int, int, float, _Joined]],
    tuple[_Trouble, int, int, int, int, int],
]: ...

@final
class Brush:
    def __new__(
        cls,
        positions: ArrayLike,  # (V, 3)
        triangles: ArrayLike,  # (T, 3)
        joint_indices: ArrayLike,  # (V, K)
        joint_weights: ArrayLike,  # (V, K)
        *,
        joint_count: int | None = None,
        limit: int | None = None,
    ) -> Brush: ...
    @property
    def vertex_count(self) -> int: ...
    @property
    def joint_count(self) -> int: ...
    @property
    def limit(self) -> int: ...
    def stroke(
        self,
        centers: ArrayLike,  # (N, 3)
        joint: int | None,
        *,
        mode: _BrushMode = "add",
        radius: float,
        strength: float = 1.0,
        value: float = 1.0,
        falloff: _BrushFalloff = "smooth",
        distance: _Distance = "space",
        locked: ArrayLike | None = None,  # (L,)
        normalize: bool = True,
        mirror: _Axis | None = None,
        mirror_position: float = 0.0,
        mirror_joints: ArrayLike | None = None,  # (J,)
    ) -> tuple[
        NDArray[np.int32],  # (M,)
        NDArray[np.int32],  # (M, L)
        NDArray[np.float64],  # (M, L)
        NDArray[np.int32],  # (M, L)
        NDArray[np.float64],  # (M, L)
    ]: ...
    def drag(
        self,
        vertex: int,
        target: ArrayLike,  # (3,)
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        radius: float,
        method: _Method = "spherical",
        center: _Center = "joint_set",
        damping: float = 1e-8,
        amount: ArrayLike | None = None,  # (V,)
        base: _Method | Mapping[str, object] = "linear",
        centers: ArrayLike | None = None,  # (V, 3)
        twist: Twist | None = None,
        twists: ArrayLike | None = None,  # (B, 2)
        falloff: _BrushFalloff = "smooth",
        distance: _Distance = "space",
        joints: ArrayLike | None = None,  # (N,)
        locked: ArrayLike | None = None,  # (L,)
        mirror: _Axis | None = None,
        mirror_position: float = 0.0,
        mirror_joints: ArrayLike | None = None,  # (J,)
        threads: int | None = None,
    ) -> tuple[
        NDArray[np.int32],  # (M,)
        NDArray[np.int32],  # (M, L)
        NDArray[np.float64],  # (M, L)
        NDArray[np.int32],  # (M, L)
        NDArray[np.float64],  # (M, L)
    ]: ...
    def restore(
        self,
        vertices: ArrayLike,  # (M,)
        joint_indices: ArrayLike,  # (M, W)
        joint_weights: ArrayLike,  # (M, W)
    ) -> None: ...
    def influences(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...  # (V, L), (V, L)

class LinAlgError(RuntimeError): ...

@final
class Muscles:
    def __new__(
        cls,
        joint_count: int,
        joints: ArrayLike,  # (M, 4)
        points: ArrayLike,  # (M, 4, 3)
        point_counts: ArrayLike,  # (M,)
        numbers: ArrayLike,  # (M, 7)
        thin_directions: ArrayLike,  # (M, 3)
        thin_joints: ArrayLike,  # (M,)
        profiles: ArrayLike,  # (P,)
        profile_ends: ArrayLike,  # (M,)
        covered: ArrayLike,  # (C,)
        covered_ends: ArrayLike,  # (M,)
        *,
        rest_positions: ArrayLike | None = None,  # (V, 3)
        rest_normals: ArrayLike | None = None,  # (V, 3)
        triangles: ArrayLike | None = None,  # (T, 3)
        joint_indices: ArrayLike | None = None,  # (V, K)
        joint_weights: ArrayLike | None = None,  # (V, K)
    ) -> Muscles: ...
    @property
    def covered_count(self) -> int: ...
    def cover_of(
        self, muscle: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...  # (C,), (C,), (C,)
    def measure(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        activations: ArrayLike | None,  # (F, M)
    ) -> NDArray[np.float64]: ...  # (F, M, 5)
    def cover(
        self,
        positions: _Floats,  # (F, V, 3), changed
        normals: _Floats | None,  # (F, V, 3), changed
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        activations: ArrayLike | None,  # (F, M)
        threads: int | None = None,
    ) -> None: ...
    def surface(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        activations: ArrayLike | None,  # (F, M)
        muscle: int,
        rings: int,
        sides: int,
    ) -> NDArray[np.float64]: ...  # (F, rings, sides, 3)

@final
class Twist:
    def __new__(
        cls,
        joint_count: int,
        joints: ArrayLike,  # (B,)
        parents: ArrayLike,  # (B,)
        children: ArrayLike,  # (B,)
        heads: ArrayLike,  # (B, 3)
        tails: ArrayLike,  # (B, 3)
        *,
        frames: int | None = None,
        smooth: bool = False,
    ) -> Twist: ...
    @property
    def joint_count(self) -> int: ...
    def influences(
        self,
        rest_positions: ArrayLike,  # (V, 3)
        joint_indices: ArrayLike,  # (V, K)
        joint_weights: ArrayLike,  # (V, K)
        shares: ArrayLike | None = None,  # (V, K)
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...  # (V, 2 K), (V, 2 K)
    def angles(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        follow: bool,
        previous: ArrayLike | None,  # (B, 2)
        /,
    ) -> NDArray[np.float64]: ...  # (F, B, 2)
    def pose(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        twists: ArrayLike | None,  # (F, B, 2)
        /,
    ) -> NDArray[np.float64]: ...  # (F, J', 3, 4)

@final
class Skin:
    def __new__(
        cls,
        rest_positions: ArrayLike,  # (V, 3)
        joint_indices: ArrayLike,  # (V, K)
        joint_weights: ArrayLike,  # (V, K)
        *,
        parents: ArrayLike | None = None,  # (J,)
        joint_positions: ArrayLike | None = None,  # (J, 3)
        rest_normals: ArrayLike | None = None,  # (V, 3)
        centers: ArrayLike | None = None,  # (V, 3)
        joint_count: int | None = None,
        twist: Twist | None = None,
        strict: bool = False,
    ) -> Skin: ...
    @property
    def rest_positions(self) -> _Floats: ...  # (V, 3)
    @property
    def joint_indices(self) -> NDArray[np.int32]: ...  # (V, K)
    @property
    def joint_weights(self) -> _Floats: ...  # (V, K)
    @property
    def parents(self) -> NDArray[np.int32] | None: ...  # (J,)
    @property
    def joint_positions(self) -> NDArray[np.float64] | None: ...  # (J, 3)
    @property
    def rest_normals(self) -> _Floats | None: ...  # (V, 3)
    @property
    def centers(self) -> NDArray[np.float64] | None: ...  # (V, 3)
    @property
    def twist(self) -> Twist | None: ...
    @property
    def vertex_count(self) -> int: ...
    @property
    def joint_count(self) -> int: ...
    @property
    def nontrivial_joint_set_count(self) -> int: ...
    @property
    def unweighted_vertex_count(self) -> int: ...
    @property
    def max_influences(self) -> int: ...
    @property
    def memory(self) -> int: ...
    @property
    def instruction_set(self) -> str: ...
    @property
    def weight_report(self) -> tuple[int, int, int, int, int, int]: ...
    @property
    def joint_sets(self) -> list[tuple[int, ...]]: ...
    @property
    def joint_set_of_vertex(self) -> NDArray[np.int32]: ...  # (V,)
    @property
    def vertex_order(self) -> NDArray[np.int32]: ...  # (V,)
    def deform(
        self,
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        method: _Method = "spherical",
        rotation: _Rotation = "qlerp",
        center: _Center = "joint_set",
        damping: float = 1e-8,
        rcond: float | None = None,
        amount: ArrayLike | None = None,  # (V,)
        base: _Method | Mapping[str, object] = "linear",
        twists: ArrayLike | None = None,  # (B, 2)
        normals: bool = False,
        out: _Floats | None = None,  # (V, 3)
        out_normals: _Floats | None = None,  # (V, 3)
        threads: int | None = None,
    ) -> _Floats | tuple[_Floats, _Floats]: ...  # (V, 3)
    def deform_many(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        *,
        method: _Method = "spherical",
        rotation: _Rotation = "qlerp",
        center: _Center = "joint_set",
        damping: float = 1e-8,
        rcond: float | None = None,
        amount: ArrayLike | None = None,  # (V,)
        base: _Method | Mapping[str, object] = "linear",
        twists: ArrayLike | None = None,  # (F, B, 2)
        normals: bool = False,
        out: _Floats | None = None,  # (F, V, 3)
        out_normals: _Floats | None = None,  # (F, V, 3)
        threads: int | None = None,
    ) -> _Floats | tuple[_Floats, _Floats]: ...  # (F, V, 3)
    def inverse_deform(
        self,
        posed_positions: ArrayLike,  # (V, 3)
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        method: _Method = "spherical",
        rotation: _Rotation = "qlerp",
        center: _Center = "joint_set",
        damping: float = 1e-8,
        rcond: float | None = None,
        amount: ArrayLike | None = None,  # (V,)
        base: _Method | Mapping[str, object] = "linear",
        twists: ArrayLike | None = None,  # (B, 2)
        out: _Floats | None = None,  # (V, 3)
        threads: int | None = None,
    ) -> tuple[_Floats, NDArray[np.bool_]]: ...  # (V, 3), (V,)
    def weight_jacobian(
        self,
        vertex: int,
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        method: _Method = "spherical",
        rotation: _Rotation = "qlerp",
        center: _Center = "joint_set",
        damping: float = 1e-8,
        rcond: float | None = None,
        amount: ArrayLike | None = None,  # (V,)
        base: _Method | Mapping[str, object] = "linear",
    ) -> NDArray[np.float64]: ...  # (3, K)
    def deform_vjp(
        self,
        grad_positions: ArrayLike | None,  # (V, 3)
        grad_normals: ArrayLike | None,  # (V, 3)
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        wanted: int,
        method: _Method = "spherical",
        rotation: _Rotation = "qlerp",
        center: _Center = "joint_set",
        damping: float = 1e-8,
        rcond: float | None = None,
        amount: ArrayLike | None = None,  # (V,)
        base: _Method | Mapping[str, object] = "linear",
        twists: ArrayLike | None = None,  # (B, 2)
        rest_positions: ArrayLike | None = None,  # (V, 3)
        centers: ArrayLike | None = None,  # (V, 3)
        threads: int | None = None,
    ) -> tuple[
        _Floats | None,  # (V, 3)
        _Floats | None,  # (V, 3)
        _Floats | None,  # (V, K)
        NDArray[np.float64] | None,  # (J, 3, 4)
        _Floats | None,  # (V, 3)
        _Floats | None,  # (V,)
        NDArray[np.float64] | None,  # (B, 2)
        NDArray[np.float64] | None,  # (V, K)
    ]: ...
    def update(
        self,
        vertices: ArrayLike,  # (M,)
        joint_indices: ArrayLike,  # (M, K)
        joint_weights: ArrayLike,  # (M, K)
        *,
        strict: bool = False,
    ) -> Skin: ...
    def move(
        self,
        rest_positions: ArrayLike,  # (V, 3)
        centers: ArrayLike | None = None,  # (V, 3)
    ) -> None: ...
    def rotation_centers(
        self,
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        damping: float = 1e-8,
        rcond: float | None = None,
    ) -> tuple[NDArray[np.float64], tuple[int, int, int]]: ...  # (N, 3), counts

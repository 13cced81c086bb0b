# SPDX-License-Identifier: MIT
# Written by tools/core_stub.py from the contracts in csrc/extension.
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

_Floats = NDArray[np.float32 | np.float64]

version: str

class _BuildInfo(TypedDict):
    version: str
    instruction_set: str
    instruction_sets: list[str]
    lapack: str

class LinAlgError(RuntimeError): ...

def build_info() -> _BuildInfo: ...
def set_threads(threads: int | None, /) -> None: ...
def get_threads() -> int: ...
def owned(
    array: ArrayLike,
    name: str,
    dtype: DTypeLike | None = None,
) -> NDArray[Any]: ...
def weld(
    positions: ArrayLike,  # (V, 3)
) -> NDArray[np.int32]: ...  # (V,)
def adjacency(
    triangles: ArrayLike,  # (T, 3)
    representatives: ArrayLike,  # (V,)
) -> tuple[NDArray[np.intp], NDArray[np.int32]]: ...  # (O,), (6 T,)
def subdivide(
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    representatives: ArrayLike,  # (V,)
    chosen: ArrayLike,  # (T,) bool
    *,
    scheme: Literal["1:3", "1:4"] = "1:4",
    levels: int | None = 1,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]: ...
def curvature(
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    representatives: ArrayLike,  # (V,)
) -> NDArray[np.float64]: ...  # (T,)
def check_skin(
    rest_positions: ArrayLike,  # (V, 3)
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    parents: ArrayLike | None = None,  # (J,)
    joint_positions: ArrayLike | None = None,  # (J, 3)
    rest_normals: ArrayLike | None = None,  # (V, 3)
    centers: ArrayLike | None = None,  # (V, 3)
    twist_positions: ArrayLike | None = None,  # (V, 3)
    joint_count: int | None = None,
    twist: Twist | None = None,
    strict: bool = False,
) -> tuple[int, int, int, int, int, int]: ...
def tidy_weights(
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    joint_count: int | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64], int]: ...
def clean_weights(
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    normalize: bool = True,
    limit: int | None = None,
    threshold: float = 0.0,
    locked: ArrayLike | None = None,  # (L,)
) -> tuple[NDArray[np.int32], _Floats, tuple[int, int, int, int]]: ...
def smooth_weights(
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    *,
    iterations: int | None = 1,
    strength: float = 0.5,
    limit: int | None = None,
    mask: ArrayLike | None = None,  # (V,)
    locked: ArrayLike | None = None,  # (L,)
    normalize: bool = True,
) -> tuple[NDArray[np.int32], _Floats]: ...  # (V, W), (V, W)
def diffuse_weights(
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    lengths: ArrayLike,  # (V,)
    *,
    limit: int | None = None,
    threshold: float = 0.01,
    locked: ArrayLike | None = None,  # (L,)
) -> tuple[NDArray[np.int32], _Floats]: ...  # (V, W), (V, W)
def islands(
    triangles: ArrayLike,  # (T, 3)
    vertex_count: int | None,
) -> NDArray[np.int32]: ...  # (V,)
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
def triangles_crossing(
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    *,
    representatives: ArrayLike | None = None,  # (V,)
    threads: int | None = None,
) -> NDArray[np.bool_]: ...  # (T,)
def check_capsules(
    heads: ArrayLike,  # (J, 3)
    tails: ArrayLike,  # (J, 3)
    inner_radii: ArrayLike,  # (J, 2)
    outer_radii: ArrayLike,  # (J, 2)
    multipliers: ArrayLike | None = None,  # (J,)
    enabled: ArrayLike | None = None,  # (J,) bool
    falloffs: ArrayLike | None = None,  # (J,)
) -> None: ...
def capsule_weights(
    points: ArrayLike,  # (V, 3)
    heads: ArrayLike,  # (J, 3)
    tails: ArrayLike,  # (J, 3)
    inner_radii: ArrayLike,  # (J, 2)
    outer_radii: ArrayLike,  # (J, 2)
    multipliers: ArrayLike | None = None,  # (J,)
    enabled: ArrayLike | None = None,  # (J,) bool
    falloffs: ArrayLike | None = None,  # (J,)
    *,
    falloff: Literal["linear", "smooth", "quadratic"] = "linear",
    outside: Literal["nearest", "unweighted", "error"] = "nearest",
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
    enabled: ArrayLike | None = None,  # (J,) bool
    falloffs: ArrayLike | None = None,  # (J,)
    *,
    falloff: Literal["linear", "smooth", "quadratic"] = "linear",
    outside: Literal["nearest", "unweighted", "error"] = "nearest",
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
    enabled: ArrayLike | None = None,  # (J,) bool
    falloffs: ArrayLike | None = None,  # (J,)
    *,
    threads: int | None = None,
) -> int: ...
def bone_tails(
    parents: ArrayLike,  # (J,)
    joint_positions: ArrayLike,  # (J, 3)
) -> NDArray[np.float64]: ...  # (J, 3)
def blend_bones(
    rest_positions: ArrayLike,  # (V, 3)
    parents: ArrayLike,  # (J,)
    joint_positions: ArrayLike,  # (J, 3)
    inverse_bind_matrices: ArrayLike,  # (J, 3, 4)
    names: Sequence[str],
    *,
    tails: ArrayLike | None = None,  # (J, 3)
    t_min: ArrayLike | None = None,  # (J,)
    t_max: ArrayLike | None = None,  # (J,)
    blended: ArrayLike | None = None,  # (J,) bool
    attachment: ArrayLike | None = None,  # (V,)
    joint_indices: ArrayLike | None = None,  # (V, K)
    joint_weights: ArrayLike | None = None,  # (V, K)
    profile: Literal["linear", "smoothstep"] = "linear",
    zone_scale: float = 1.0,
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
def optimized_centers(
    rest_positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    twist: Twist | None = None,
    twist_positions: ArrayLike | None = None,  # (V, 3)
    sigma: float = 0.1,
    refinement: float = 0.1,
    tolerance: float = 0.01,
    progress: Callable[[float], object] | None = None,
    threads: int | None = None,
) -> tuple[NDArray[np.float64], tuple[int, int, int]]: ...
def check_fit(
    rest_positions: ArrayLike,  # (V, 3)
    posed: ArrayLike,  # (F, V, 3)
    skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
    *,
    method: Literal["rigid", "linear", "spherical", "dual_quaternion"] = "spherical",
    center: Literal["joint_set", "weighted", "optimized"] = "weighted",
    damping: float = 1e-08,
    influences: int | None = 4,
    iterations: int | None = 30,
    centers: ArrayLike | None = None,  # (V, 3)
    twist: Twist | None = None,
    twists: ArrayLike | None = None,  # (F, B, 2)
    allowed: ArrayLike | None = None,  # (V, J) bool
    toward: ArrayLike | None = None,  # (V, J)
    pull: float = 0.0,
    initial_indices: ArrayLike | None = None,  # (V, N)
    initial_weights: ArrayLike | None = None,  # (V, N)
) -> None: ...
def fit_centers(
    rest_positions: ArrayLike,  # (V, 3)
    posed: ArrayLike,  # (F, V, 3)
    skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    centers: ArrayLike | None = None,  # (V, 3)
    twist: Twist | None = None,
    twists: ArrayLike | None = None,  # (F, B, 2)
    threads: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...  # (V, 3), (V,)
def fit_matrices(
    rest_positions: ArrayLike,  # (V, 3)
    posed: ArrayLike,  # (F, V, 3)
    skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
    joint_indices: ArrayLike,  # (V, K)
    joint_weights: ArrayLike,  # (V, K)
    *,
    fixed: ArrayLike | None = None,  # (J,) bool
    sweeps: int | None = 10,
    threads: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...  # (F, J, 3, 4), (F,)
def fit_weights(
    rest_positions: ArrayLike,  # (V, 3)
    posed: ArrayLike,  # (F, V, 3)
    skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
    *,
    method: Literal["rigid", "linear", "spherical", "dual_quaternion"] = "spherical",
    center: Literal["joint_set", "weighted", "optimized"] = "weighted",
    damping: float = 1e-08,
    influences: int | None = 4,
    iterations: int | None = 30,
    centers: ArrayLike | None = None,  # (V, 3)
    twist: Twist | None = None,
    twists: ArrayLike | None = None,  # (F, B, 2)
    allowed: ArrayLike | None = None,  # (V, J) bool
    toward: ArrayLike | None = None,  # (V, J)
    pull: float = 0.0,
    initial_indices: ArrayLike | None = None,  # (V, N)
    initial_weights: ArrayLike | None = None,  # (V, N)
    threads: int | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...  # (V, K), (V, K), (V,)
def heat_weights(
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    heads: ArrayLike,  # (J, 3)
    tails: ArrayLike,  # (J, 3)
    *,
    enabled: ArrayLike | None = None,  # (J,) bool
    strength: float = 4.0,
    limit: int | None = None,
    prune: float = 0.001,
    progress: Callable[[float], object] | None = None,
    threads: int | None = None,
) -> tuple[
    tuple[NDArray[np.int32], NDArray[np.float64]] | None,
    NDArray[np.int32],
    list[tuple[int, int, int, float, Literal["sees no bone", "tiny", "no triangles"]]],
    tuple[str, int, int, int, int, int],
]: ...
def relax(
    rest_positions: ArrayLike,  # (V, 3)
    positions: ArrayLike,  # (V, 3)
    triangles: ArrayLike,  # (T, 3)
    free_vertices: ArrayLike,  # (V,) bool
    size: float,
    *,
    triangle_parts: ArrayLike | None = None,  # (T,)
    apexes: ArrayLike | None = None,  # (P, 3)
    rest_volumes: ArrayLike | None = None,  # (P,)
    held_volumes: ArrayLike | None = None,  # (P,)
    planes: ArrayLike | None = None,  # (V, 4)
    bones: ArrayLike | None = None,  # (B, 2, 3)
    vertex_bones: ArrayLike | None = None,  # (V, 2)
    distances: ArrayLike | None = None,  # (V,)
    bending: float = 0.0013,
    volume: float = 30.0,
    crease: float = 75.0,
    thinner: float = 3.0,
    thicker: float = 60.0,
    iterations: int | None = 150,
) -> tuple[NDArray[np.float64], float, float, int]: ...

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
        twist_positions: ArrayLike | None = None,  # (V, 3)
        joint_count: int | None = None,
        twist: Twist | None = None,
        strict: bool = False,
    ) -> Skin: ...
    def deform(
        self,
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        method: Literal["rigid", "linear", "spherical", "dual_quaternion"] = "spherical",
        rotation: Literal["qlerp", "average"] = "qlerp",
        center: Literal["joint_set", "weighted", "optimized"] = "joint_set",
        damping: float = 1e-08,
        rcond: float | None = None,
        amount: ArrayLike | None = None,  # (V,)
        twists: ArrayLike | None = None,  # (B, 2)
        shapes: Shapes | None = None,
        shape_weights: ArrayLike | None = None,  # (S,)
        rest_positions: ArrayLike | None = None,  # (V, 3)
        normals: bool = False,
        out: _Floats | None = None,  # (V, 3)
        out_normals: _Floats | None = None,  # (V, 3)
        threads: int | None = None,
    ) -> _Floats | tuple[_Floats, _Floats]: ...
    def deform_many(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        *,
        method: Literal["rigid", "linear", "spherical", "dual_quaternion"] = "spherical",
        rotation: Literal["qlerp", "average"] = "qlerp",
        center: Literal["joint_set", "weighted", "optimized"] = "joint_set",
        damping: float = 1e-08,
        rcond: float | None = None,
        amount: ArrayLike | None = None,  # (V,)
        twists: ArrayLike | None = None,  # (F, B, 2)
        shapes: Shapes | None = None,
        shape_weights: ArrayLike | None = None,  # (F, S)
        normals: bool = False,
        out: _Floats | None = None,  # (F, V, 3)
        out_normals: _Floats | None = None,  # (F, V, 3)
        threads: int | None = None,
    ) -> _Floats | tuple[_Floats, _Floats]: ...
    def inverse_deform(
        self,
        posed_positions: ArrayLike,  # (V, 3)
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        method: Literal["rigid", "linear", "spherical", "dual_quaternion"] = "spherical",
        rotation: Literal["qlerp", "average"] = "qlerp",
        center: Literal["joint_set", "weighted", "optimized"] = "joint_set",
        damping: float = 1e-08,
        rcond: float | None = None,
        amount: ArrayLike | None = None,  # (V,)
        twists: ArrayLike | None = None,  # (B, 2)
        shapes: Shapes | None = None,
        shape_weights: ArrayLike | None = None,  # (S,)
        out: _Floats | None = None,  # (V, 3)
        threads: int | None = None,
    ) -> tuple[_Floats, NDArray[np.bool_]]: ...  # (V, 3), (V,)
    def update(
        self,
        vertices: ArrayLike,  # (M,)
        joint_indices: ArrayLike,  # (M, K)
        joint_weights: ArrayLike,  # (M, K)
        *,
        strict: bool = False,
    ) -> Skin: ...
    def deform_vjp(
        self,
        grad_positions: ArrayLike | None,  # (V, 3)
        grad_normals: ArrayLike | None,  # (V, 3)
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        wanted: int,
        method: Literal["rigid", "linear", "spherical", "dual_quaternion"] = "spherical",
        rotation: Literal["qlerp", "average"] = "qlerp",
        center: Literal["joint_set", "weighted", "optimized"] = "joint_set",
        damping: float = 1e-08,
        rcond: float | None = None,
        amount: ArrayLike | None = None,  # (V,)
        twists: ArrayLike | None = None,  # (B, 2)
        shapes: Shapes | None = None,
        shape_weights: ArrayLike | None = None,  # (S,)
        rest_positions: ArrayLike | None = None,  # (V, 3)
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
        NDArray[np.float64] | None,  # (S,)
        _Floats | None,  # (V, 3)
        _Floats | None,  # (V, 3)
    ]: ...
    def weight_jacobian(
        self,
        vertex: int,
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        method: Literal["rigid", "linear", "spherical", "dual_quaternion"] = "spherical",
        rotation: Literal["qlerp", "average"] = "qlerp",
        center: Literal["joint_set", "weighted", "optimized"] = "joint_set",
        damping: float = 1e-08,
        rcond: float | None = None,
        amount: ArrayLike | None = None,  # (V,)
    ) -> NDArray[np.float64]: ...  # (3, K)
    def rotation_centers(
        self,
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        damping: float = 1e-08,
        rcond: float | None = None,
    ) -> tuple[NDArray[np.float64], tuple[int, int, int]]: ...
    def bound_influences(
        self,
        width: int | None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32], float]: ...
    def pose_palette(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        *,
        method: Literal["rigid", "linear", "spherical", "dual_quaternion"] = "spherical",
        damping: float = 1e-08,
        rcond: float | None = None,
        twists: ArrayLike | None = None,  # (F, B, 2)
        centers: bool = False,
        threads: int | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32] | None, tuple[int, int]]: ...
    def joint_sets(self) -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.int32]]: ...  # (O,), (S,), (V,)
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
    def twist_positions(self) -> _Floats | None: ...  # (V, 3)
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
    def stroke(
        self,
        centers: ArrayLike,  # (N, 3)
        joint: int | None,
        *,
        mode: Literal["add", "subtract", "replace", "scale", "smooth"] = "add",
        radius: float,
        strength: float = 1.0,
        value: float = 1.0,
        falloff: Literal["constant", "linear", "smooth", "sphere", "quadratic"] = "smooth",
        distance: Literal["space", "surface"] = "space",
        locked: ArrayLike | None = None,  # (L,)
        normalize: bool = True,
        mirror: Literal["x", "y", "z"] | None = None,
        mirror_position: float = 0.0,
        mirror_joints: ArrayLike | None = None,  # (J,)
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]: ...
    def drag(
        self,
        vertex: int,
        target: ArrayLike,  # (3,)
        skinning_matrices: ArrayLike,  # (J, 4, 4) or (J, 3, 4)
        *,
        radius: float,
        method: Literal["rigid", "linear", "spherical", "dual_quaternion"] = "spherical",
        center: Literal["joint_set", "weighted", "optimized"] = "joint_set",
        damping: float = 1e-08,
        amount: ArrayLike | None = None,  # (V,)
        centers: ArrayLike | None = None,  # (V, 3)
        twist: Twist | None = None,
        twist_positions: ArrayLike | None = None,  # (V, 3)
        twists: ArrayLike | None = None,  # (B, 2)
        falloff: Literal["constant", "linear", "smooth", "sphere", "quadratic"] = "smooth",
        distance: Literal["space", "surface"] = "space",
        joints: ArrayLike | None = None,  # (N,)
        locked: ArrayLike | None = None,  # (L,)
        mirror: Literal["x", "y", "z"] | None = None,
        mirror_position: float = 0.0,
        mirror_joints: ArrayLike | None = None,  # (J,)
        threads: int | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]: ...
    def restore(
        self,
        vertices: ArrayLike,  # (M,)
        joint_indices: ArrayLike,  # (M, W)
        joint_weights: ArrayLike,  # (M, W)
    ) -> None: ...
    def influences(self) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...  # (V, W), (V, W)
    @property
    def vertex_count(self) -> int: ...
    @property
    def joint_count(self) -> int: ...
    @property
    def limit(self) -> int: ...

@final
class Twist:
    def __new__(
        cls,
        joint_count: int | None,
        joints: ArrayLike,  # (B,)
        parents: ArrayLike,  # (B,)
        children: ArrayLike,  # (B,)
        heads: ArrayLike,  # (B, 3)
        tails: ArrayLike,  # (B, 3)
        *,
        frames: int | None = None,
        smooth: bool = False,
    ) -> Twist: ...
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
    ) -> NDArray[np.float64]: ...  # (F, B, 2)
    def pose(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        twists: ArrayLike | None,  # (F, B, 2)
    ) -> NDArray[np.float64]: ...  # (F, A, 3, 4)
    @property
    def joint_count(self) -> int: ...

@final
class Muscles:
    def __new__(
        cls,
        joint_count: int | None,
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
    def cover_of(
        self,
        muscle: int,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]: ...  # (C,), (C,), (C,)
    def measure(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        activations: ArrayLike | None,  # (F, M)
    ) -> NDArray[np.float64]: ...  # (F, M, 5)
    def cover(
        self,
        positions: _Floats,  # (F, V, 3)
        normals: _Floats | None,  # (F, V, 3)
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        activations: ArrayLike | None,  # (F, M)
        threads: int | None = None,
    ) -> None: ...
    def surface(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        activations: ArrayLike | None,  # (F, M)
        muscle: int,
        rings: int | None,
        sides: int | None,
    ) -> NDArray[np.float64]: ...  # (F, R, S, 3)
    @property
    def covered_count(self) -> int: ...

@final
class Drivers:
    def __new__(
        cls,
        joint_count: int | None,
        ends: ArrayLike,  # (D,)
        joints: ArrayLike,  # (N,)
        parents: ArrayLike,  # (N,)
        axes: ArrayLike,  # (N, 3)
        parts: ArrayLike,  # (D,)
        pose_drivers: ArrayLike,  # (P,)
        coordinates: ArrayLike,  # (C, 3)
    ) -> Drivers: ...
    def coordinates(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
    ) -> NDArray[np.float64]: ...  # (F, N, 3)
    def weights(
        self,
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
    ) -> NDArray[np.float64]: ...  # (F, P)
    @property
    def pose_count(self) -> int: ...

@final
class Shapes:
    def __new__(
        cls,
        skin: Skin,
        ends: ArrayLike,  # (S,)
        vertices: ArrayLike,  # (M,)
        deltas: ArrayLike,  # (M, 3)
        *,
        normal_deltas: ArrayLike | None = None,  # (M, 3)
    ) -> Shapes: ...
    @property
    def shape_count(self) -> int: ...

@final
class Flesh:
    def __new__(
        cls,
        rest_positions: ArrayLike,  # (V, 3)
        triangles: ArrayLike,  # (T, 3)
        joint_indices: ArrayLike,  # (V, K)
        joint_weights: ArrayLike,  # (V, K)
        parents: ArrayLike,  # (J,)
        bones: ArrayLike,  # (J, 2, 3)
        *,
        hinges: ArrayLike | None = None,  # (J,) bool
        amounts: ArrayLike | None = None,  # (V,)
        bending: float = 0.385,
        hold: float = 0.07,
        crease: float = 2.6,
        margin: float = 0.42,
        thinner: float = 2.9,
        thicker: float = 3.8,
    ) -> Flesh: ...
    def relax(
        self,
        positions: _Floats,  # (F, V, 3)
        normals: _Floats | None,  # (F, V, 3)
        skinning_matrices: ArrayLike,  # (F, J, 4, 4) or (F, J, 3, 4)
        *,
        steps: int | None = 12,
        amount: float = 1.0,
        threads: int | None = None,
    ) -> None: ...
    @property
    def free_count(self) -> int: ...

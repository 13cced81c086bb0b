# SPDX-License-Identifier: MIT
"""Input that a skin can't use: an error names the argument, the shape and the index. And odd input that it can."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from meshes import Precision, skin_arguments, skinning_matrices
from numpy.typing import DTypeLike

import sbs

VERTICES, JOINTS = 8, 31

# ------------------------------------------------------------------------------------------------------------ binding


def bind(**changes: Any) -> sbs.Skin:
    return sbs.Skin(**{**usual(), **changes})


def usual(dtype: Precision = np.float64) -> dict[str, Any]:
    """Keyword arguments of a good skin."""
    return {**skin_arguments(VERTICES, JOINTS, 3, dtype, normals=True)}


def changed(name: str, index: Any, value: Any) -> dict[str, np.ndarray]:
    array: np.ndarray = usual()[name]
    array[index] = value
    return {name: array}


SHAPES: dict[str, list[tuple[int, ...]]] = {
    "rest_positions": [(24,), (8, 4), (1, 8, 3), (), (9, 3), (0, 3)],
    "joint_indices": [(8,), (8, 0)],
    "joint_weights": [(8, 3, 1), (8, 4), (9, 3)],
    "rest_normals": [(8, 2), (7, 3)],
    "parents": [(31, 1), (30,)],
    "joint_positions": [(31,), (31, 4), (30, 3)],
}


@pytest.mark.parametrize(("name", "shape"), [(name, shape) for name, shapes in SHAPES.items() for shape in shapes])
def test_shapes(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=rf"{name} (has shape )?{re.escape(str(shape))}"):
        bind(**{name: np.zeros(shape, usual()[name].dtype)})


NOTHING = {
    "rest_positions": np.zeros((0, 3)),
    "joint_indices": np.zeros((0, 3), int),
    "joint_weights": np.zeros((0, 3)),
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (changed("joint_indices", (4, 2), 99), r"joint_indices\[4, 2\] = 99"),
        (changed("joint_indices", (4, 2), -1), r"joint_indices\[4, 2\] = -1"),
        (changed("parents", 5, 31), r"parents\[5\] = 31"),
        (changed("parents", 5, -2), r"parents\[5\] = -2"),
        (changed("parents", 5, 9), r"parents\[\d\] = \d"),
        (changed("rest_positions", (3, 1), np.nan), r"rest_positions\[3, 1\] is nan"),
        (changed("rest_positions", (3, 1), -np.inf), r"rest_positions\[3, 1\] is -inf"),
        (changed("rest_normals", (7, 2), np.nan), r"rest_normals\[7, 2\] is nan"),
        (changed("joint_positions", (30, 0), np.inf), r"joint_positions\[30, 0\] is inf"),
        ({"rest_positions": [[0.0, 0.0, 0.0], [0.0]]}, "rest_positions"),
        ({**NOTHING, "rest_normals": None}, "rest_positions is empty"),
        ({"joint_indices": np.zeros((8, 0), int), "joint_weights": np.zeros((8, 0))}, "joint_indices is empty"),
        ({"parents": np.zeros(0, int), "joint_positions": None}, "joint_count is 0"),
        ({"joint_count": 0}, "joint_count"),
        ({"joint_count": -3}, "joint_count"),
        ({"joint_count": 30}, r"parents has shape \(31,\), expected \(30,\)"),
        *[({name: None}, rf"{name} has shape \(\)") for name in ("rest_positions", "joint_indices", "joint_weights")],
    ],
)
def test_values(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bind(**changes)


@pytest.mark.parametrize("integer", [np.uint32, np.int64, np.uint64])
@given(data=st.data())
def test_indices_beyond_int32_do_not_wrap(integer: type[np.integer], data: st.DataObject) -> None:
    """Those of 64 bits would be good ones if their upper half were dropped."""
    largest = int(np.iinfo(integer).max)
    wrong = data.draw(
        st.integers(2**31, largest).map(lambda value: (value & ~0xFFFFFFFF) + 1 if value >> 32 else value)
    )
    indices = np.zeros((VERTICES, 3), integer)
    indices[5, 1] = wrong
    with pytest.raises(ValueError, match=rf"joint_indices\[5, 1\] = {wrong} is out of range"):
        bind(joint_indices=indices)
    parents = np.full(JOINTS, 0, integer)
    parents[5] = wrong
    with pytest.raises(ValueError, match=rf"parents\[5\] = {wrong} is out of range"):
        bind(parents=parents)
    with pytest.raises(ValueError, match=r"joint_indices\[0, 0\] = -9223372036854775808"):
        bind(joint_indices=np.full((VERTICES, 3), -(2**63)))


REALS = np.complex128, np.longdouble, object, "U3", "S3", "M8[s]", "m8[s]"
INTEGERS = np.float64, np.float32, np.bool_, np.complex64, object, "U3"


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *[(name, each) for name in ("rest_positions", "joint_weights", "rest_normals") for each in REALS],
        *[(name, each) for name in ("joint_indices", "parents") for each in INTEGERS],
        ("skinning_matrices", np.longdouble),
    ],
)
def test_types(name: str, dtype: DTypeLike) -> None:
    kind = "integers" if dtype in INTEGERS and name in ("joint_indices", "parents") else "real numbers"
    with pytest.raises(TypeError, match=f"{name} must hold {kind}"):
        if name == "skinning_matrices":
            bind().deform(skinning_matrices(JOINTS).astype(dtype))
        bind(**{name: np.ones(usual()[name].shape).astype("i8").astype(dtype)})


# --------------------------------------------------------------------------------------------------- odd, but usable


def big_endian(array: np.ndarray) -> np.ndarray:
    return array.astype(array.dtype.newbyteorder(">"))


def strided(array: np.ndarray) -> np.ndarray:
    wide = np.zeros(tuple(2 * length for length in array.shape), array.dtype)
    view = wide[tuple(slice(None, None, -2) for _ in array.shape)]
    view[...] = array
    return view


def fortran(array: np.ndarray) -> np.ndarray:
    return np.asfortranarray(array)


def read_only(array: np.ndarray) -> np.ndarray:
    result = array.copy()
    result.setflags(write=False)
    return result


def misaligned(array: np.ndarray) -> np.ndarray:
    result = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    result[...] = array
    return result


def nested_lists(array: np.ndarray) -> list[Any]:
    lists: list[Any] = array.tolist()
    return lists


@pytest.mark.parametrize("odd", [big_endian, strided, fortran, read_only, misaligned, nested_lists])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layouts_change_no_bit(odd: Callable[[np.ndarray], Any], dtype: Precision) -> None:
    if odd is nested_lists and dtype == np.float32:
        dtype = np.float64  # what a list of Python numbers is
    arguments = usual(dtype)
    matrices = skinning_matrices(2, JOINTS)
    expected = sbs.Skin(**arguments).deform_many(matrices, normals=True)
    skin = sbs.Skin(**{name: odd(array) for name, array in arguments.items()})
    actual = skin.deform_many(odd(matrices), normals=True)
    assert [a.tobytes() for a in actual] == [e.tobytes() for e in expected]


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64])
def test_integers_become_float64_and_half_precision_float32(dtype: DTypeLike) -> None:
    half = sbs.Skin(np.full((1, 3), 0.1, np.float16), [[0]], [[1.0]])
    assert half.dtype == np.float32
    np.testing.assert_array_equal(half.rest_positions, np.full((1, 3), 0.1, np.float16).astype(np.float32))
    positions = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    skin = sbs.Skin(positions, [[0], [1]], np.ones((2, 1), dtype))
    assert skin.dtype == np.float64
    matrices = np.stack([np.eye(4, dtype=dtype), np.eye(4, dtype=dtype)])
    np.testing.assert_array_equal(skin.deform(matrices), positions.astype(float))


# ---------------------------------------------------------------------------------------------------------- deforming


@pytest.mark.parametrize("shape", [(31, 4), (31, 4, 3), (31, 3, 3), (31, 5, 4), (0, 4, 4), (30, 4, 4), (32, 3, 4)])
def test_shape_of_matrices(shape: tuple[int, ...]) -> None:
    """The error of frames that are given to `deform` names `deform_many`."""
    skin, message = bind(), re.escape(str(shape))
    for call in (skin.deform, skin.rotation_centers, skin.pose_report):
        with pytest.raises(ValueError, match=f"skinning_matrices has shape {message}"):
            call(np.zeros(shape))
    with pytest.raises(ValueError, match=r"deform_many"):
        skin.deform(np.zeros((1, 31, 4, 4)))
    for frames in (0, 2):
        message = re.escape(str((frames, *shape)))
        with pytest.raises(ValueError, match=f"skinning_matrices has shape {message}"):
            skin.deform_many(np.zeros((frames, *shape)))


@pytest.mark.parametrize("rows", [3, 4])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrices_that_are_not_finite(rows: int, bad: float, dtype: Precision) -> None:
    skin = bind()
    matrices = skinning_matrices(5, JOINTS)[..., :rows, :].astype(dtype)
    matrices[3, 12, 2, 1] = bad
    out = np.full((5, VERTICES, 3), 7.0)
    with pytest.raises(ValueError, match=rf"skinning_matrices\[3, 12, 2, 1\] is {bad}"):
        skin.deform_many(matrices, out=out)
    assert np.all(out == 7.0)
    for call in (skin.deform, skin.rotation_centers, skin.pose_report):
        with pytest.raises(ValueError, match=rf"skinning_matrices\[12, 2, 1\] is {bad}"):
            call(matrices[3])


def test_transposed_matrices() -> None:
    matrices = skinning_matrices(JOINTS)
    with pytest.raises(ValueError, match=r"skinning_matrices\[0, 3, 0\] = .* transposed"):
        bind().deform(np.swapaxes(matrices, -1, -2))
    matrices[7, 3, 3] = 2.0
    with pytest.raises(ValueError, match=r"skinning_matrices\[7, 3, 3\] = 2.0"):
        bind().deform(matrices)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "smooth"}, ValueError, "method"),
        ({"method": 1}, TypeError, "method"),
        ({"rotation": "slerp"}, ValueError, "rotation"),
        ({"center": "\udcff"}, ValueError, "center"),
        *[({"damping": number}, ValueError, "damping") for number in (0, -1, np.nan, np.inf)],
        *[({"damping": other}, TypeError, "damping") for other in (None, "1")],
        *[({"rcond": number}, ValueError, "rcond") for number in (0.0, 1.0, -0.5, np.nan)],
        *[({"threads": number}, ValueError, "threads") for number in (0, -1, -(10**30))],
        ({"threads": 1.0}, TypeError, "threads"),
        ({"speed": 1}, TypeError, "speed"),
        ({"out_normals": np.zeros((VERTICES, 3))}, ValueError, "out_normals"),
    ],
)
@pytest.mark.parametrize("many", [False, True])
def test_options(many: bool, options: dict[str, Any], error: type[Exception], message: str) -> None:
    deform = bind().deform_many if many else bind().deform
    with pytest.raises(error, match=message):
        deform(skinning_matrices(2, JOINTS) if many else skinning_matrices(JOINTS), **options)


# ------------------------------------------------------------------------------------------------------------ outputs

GOOD = np.zeros((VERTICES, 3))


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        *[(np.zeros(shape), ValueError, "has shape") for shape in ((8, 4), (7, 3), (24,), (1, 8, 3))],
        *[(np.zeros((8, 3), dtype), ValueError, "must be float64") for dtype in (np.float32, np.int64)],
        (big_endian(GOOD), ValueError, "must be in native byte order"),
        (strided(GOOD), ValueError, "must be C-contiguous"),
        (fortran(GOOD), ValueError, "must be C-contiguous"),
        (misaligned(GOOD), ValueError, "must be aligned"),
        (read_only(GOOD), ValueError, "must be writeable"),
        (GOOD.tolist(), TypeError, "must be an array"),
    ],
)
@pytest.mark.parametrize("name", ["out", "out_normals"])
def test_outputs_that_cannot_be_used(name: str, out: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{name} {message}"):
        bind().deform(skinning_matrices(JOINTS), normals=True, **{name: out})


def test_no_frames_many_threads_and_a_skin_without_normals() -> None:
    skin, matrices = bind(), skinning_matrices(JOINTS)
    np.testing.assert_array_equal(skin.deform(matrices, threads=10**30), skin.deform(matrices))
    positions, normals = skin.deform_many(np.zeros((0, JOINTS, 4, 4)), normals=True)
    assert positions.shape == normals.shape == (0, VERTICES, 3)
    out = np.zeros((0, VERTICES, 3))
    assert skin.deform_many(np.zeros((0, JOINTS, 3, 4)), out=out) is out
    with pytest.raises(ValueError, match="rest_normals"):
        bind(rest_normals=None).deform(matrices, normals=True)


def test_output_over_what_the_skin_was_made_from() -> None:
    """It has a copy."""
    given = usual()
    skin = sbs.Skin(**given)
    expected = skin.deform(skinning_matrices(JOINTS))
    skin.deform(skinning_matrices(JOINTS), out=given["rest_positions"])
    np.testing.assert_array_equal(given["rest_positions"], expected)
    np.testing.assert_array_equal(skin.deform(skinning_matrices(JOINTS)), expected)


def test_outputs_over_each_other_and_over_the_matrices() -> None:
    skin = bind()
    both = np.zeros((VERTICES + 1, 3))
    with pytest.raises(ValueError, match="out_normals shares memory with out"):
        skin.deform(skinning_matrices(JOINTS), normals=True, out=both[:-1], out_normals=both[1:])
    memory = np.zeros(JOINTS * 16)
    matrices = memory.reshape(JOINTS, 4, 4)
    matrices[...] = skinning_matrices(JOINTS)
    with pytest.raises(ValueError, match="out shares memory with skinning_matrices"):
        skin.deform(matrices, out=memory[-VERTICES * 3 :].reshape(VERTICES, 3))


def test_neighboring_outputs_do_not_overlap() -> None:
    skin = bind()
    both = np.zeros((2, VERTICES, 3))
    expected = skin.deform(skinning_matrices(JOINTS), normals=True)
    skin.deform(skinning_matrices(JOINTS), normals=True, out=both[0], out_normals=both[1])
    np.testing.assert_array_equal(both, expected)


# ---------------------------------------------------------------------------------------------------- any arrays at all

arrays = hnp.arrays(
    dtype=st.sampled_from(["f2", "f4", ">f8", "i1", "u8", "?", "c8", "O"]),
    shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    elements=st.just(1),
)


@given(arrays, arrays, arrays, st.none() | arrays, st.none() | arrays, st.none() | arrays)
def test_any_arrays_bind_or_raise(
    positions: np.ndarray,
    indices: np.ndarray,
    weights: np.ndarray,
    parents: np.ndarray | None,
    joint_positions: np.ndarray | None,
    normals: np.ndarray | None,
) -> None:
    try:
        skin = sbs.Skin(
            positions,
            indices,
            weights,
            parents=parents,
            joint_positions=joint_positions,
            rest_normals=normals,
            strict=True,
        )
    except (TypeError, ValueError):
        return
    assert skin.deform(np.tile(np.eye(4), (skin.joint_count, 1, 1))).shape == skin.rest_positions.shape


@given(arrays, st.none() | arrays, st.none() | arrays)
def test_any_arrays_deform_or_raise(
    matrices: np.ndarray, out: np.ndarray | None, out_normals: np.ndarray | None
) -> None:
    skin = sbs.Skin(np.ones((2, 3)), [[0], [1]], [[1.0], [1.0]], rest_normals=np.ones((2, 3)))
    for deform in (skin.deform, skin.deform_many):
        try:
            positions, normals = deform(matrices, normals=True, out=out, out_normals=out_normals)
        except (TypeError, ValueError):
            continue
        assert positions.shape == normals.shape == (*matrices.shape[:-3], 2, 3)

"""Render triangles to a depth image with a z-buffer.

Each vertex is projected once. Each triangle then visits the pixel centres of its bounding box. 1/z is linear in the
image along a triangle, so the depth of a pixel is exact. There is no parallel loop: frames, not triangles, are
distributed over cores.

Both faces of a triangle are drawn, except in meshes that are declared closed, such as the skin. Their back faces lie
behind their front faces and are skipped for speed. A closed mesh that crosses the near plane is drawn like an open one,
because its inside shows there and hides what is behind it.

Two triangles with a common edge leave no gap. An edge is evaluated from the same end for both triangles, so its two
values are exact negatives, and a pixel centre on the edge belongs to both. The nearer triangle wins, and of equal ones
the first.
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.compilation import njit

NEAR_M = 0.1
"""Geometry nearer than this is clipped: no depth camera measures it, and division by z is safe."""

_NARROW_PX = 8
"""In triangles wider than this, the first and last pixel of each row is computed."""


@njit(cache=True, inline="always")
def _edge(au, av, bu, bv):
    """Coefficients (u0, v0, du, dv) of du (v - v0) - dv (u - u0): the signed side of edge a-b.

    The anchor (u0, v0) is the end that comes first in (u, v) order, so that edge b-a yields exact negatives.
    """
    if au < bu or (au == bu and av < bv):
        return au, av, bu - au, bv - av
    return bu, bv, bu - au, bv - av


@njit(cache=True, inline="always")
def _narrowed(first, last, at_anchor, slope, anchor, turn):
    """The columns, and one more on each side, on the inner side of an edge: at_anchor - slope (col - anchor)."""
    if slope != 0.0:
        crossing = min(max(anchor + at_anchor / slope, first - 1.0), last + 1.0)
        if turn * slope > 0.0:
            last = min(last, int(math.floor(crossing)) + 1)
        else:
            first = max(first, int(math.ceil(crossing)) - 1)
    return first, last


@njit(cache=True)
def _fill_triangle(a, b, c, triangle_id, depth_m, triangle_ids):
    """Draw one projected triangle; ``a``, ``b``, ``c`` are float64 tuples (column, row, 1/z)."""
    height, width = depth_m.shape
    top = int(math.ceil(max(min(a[1], b[1], c[1]), 0.0)))
    bottom = int(math.floor(min(max(a[1], b[1], c[1]), height - 1.0)))
    left = int(math.ceil(max(min(a[0], b[0], c[0]), 0.0)))
    right = int(math.floor(min(max(a[0], b[0], c[0]), width - 1.0)))
    if top > bottom or left > right:  # most triangles of a body cover no pixel centre
        return
    au, av, adu, adv = _edge(b[0], b[1], c[0], c[1])  # the edge opposite a gives the weight of a
    bu, bv, bdu, bdv = _edge(c[0], c[1], a[0], a[1])
    cu, cv, cdu, cdv = _edge(a[0], a[1], b[0], b[1])
    is_wide = right - left > _NARROW_PX
    for row in range(top, bottom + 1):
        a_row, b_row, c_row = adu * (row - av), bdu * (row - bv), cdu * (row - cv)
        first, last = left, right
        if is_wide:
            turn = 1.0 if adu * (a[1] - av) - adv * (a[0] - au) >= 0.0 else -1.0  # a lies on the inner side of its edge
            first, last = _narrowed(first, last, a_row, adv, au, turn)
            first, last = _narrowed(first, last, b_row, bdv, bu, turn)
            first, last = _narrowed(first, last, c_row, cdv, cu, turn)
        for col in range(first, last + 1):
            wa = a_row - adv * (col - au)
            wb = b_row - bdv * (col - bu)
            wc = c_row - cdv * (col - cu)
            front = wa >= 0.0 and wb >= 0.0 and wc >= 0.0
            back = wa <= 0.0 and wb <= 0.0 and wc <= 0.0
            if not (front or back):
                continue
            inverse_z = wa * a[2] + wb * b[2] + wc * c[2]
            if inverse_z == 0.0:  # a triangle without area
                continue
            # Divided by their own sum the weights stay convex even where rounding spoils a sliver's area.
            z = np.float32((wa + wb + wc) / inverse_z)
            if depth_m[row, col] == 0.0 or z < depth_m[row, col]:
                depth_m[row, col] = z
                triangle_ids[row, col] = triangle_id


@njit(cache=True, inline="always", error_model="numpy")
def _project(x, y, z, fx, fy, cx, cy):
    """Column, row and 1/z; the caller ignores the result for z = 0."""
    inverse_z = 1.0 / z
    return x * inverse_z * fx + cx, y * inverse_z * fy + cy, inverse_z


@njit(cache=True)
def _near_crossing(front, behind, camera):
    """Project the point where an edge meets the near plane; called front to behind, so that neighbours agree."""
    t = (front[2] - NEAR_M) / (front[2] - behind[2])
    x = front[0] + t * (behind[0] - front[0])
    y = front[1] + t * (behind[1] - front[1])
    return _project(x, y, NEAR_M, camera[0], camera[1], camera[2], camera[3])


@njit(cache=True)
def _fill_clipped(p, q, r, camera, triangle_id, depth_m, triangle_ids):
    """Draw the part beyond the near plane of a triangle that crosses it; corners in camera metres."""
    n_front = int(p[2] >= NEAR_M) + int(q[2] >= NEAR_M) + int(r[2] >= NEAR_M)
    # rotate the corners until p is the one on its own side; the order around the triangle stays
    for _ in range(2):
        if (p[2] >= NEAR_M) == (n_front == 1):
            break
        p, q, r = q, r, p
    if n_front == 1:
        a = _project(p[0], p[1], p[2], camera[0], camera[1], camera[2], camera[3])
        b, c = _near_crossing(p, q, camera), _near_crossing(p, r, camera)
        _fill_triangle(a, b, c, triangle_id, depth_m, triangle_ids)
    else:
        b = _project(q[0], q[1], q[2], camera[0], camera[1], camera[2], camera[3])
        c = _project(r[0], r[1], r[2], camera[0], camera[1], camera[2], camera[3])
        d, e = _near_crossing(q, p, camera), _near_crossing(r, p, camera)
        _fill_triangle(b, c, d, triangle_id, depth_m, triangle_ids)
        _fill_triangle(d, c, e, triangle_id, depth_m, triangle_ids)


@njit(cache=True, error_model="numpy")
def rasterize(vertices_m, triangles, n_closed, camera, first_id, depth_m, triangle_ids):
    """Draw every triangle into the two buffers.

    Parameters
    ----------
    vertices_m : float32 (V, 3), metres, camera axes, finite
    triangles : int32 (T, 3), rows of ``vertices_m``; the caller promises the range
    n_closed : int, triangles at the beginning whose back faces are not drawn, see `render_depth`
    camera : tuple of 4 floats, pixels: fx, fy, cx, cy
    first_id : int, id of triangle 0 in the buffer
    depth_m : float32 (H, W), metres, 0 = nothing yet, written in place
    triangle_ids : int32 (H, W), written in place where a triangle is nearer than ``depth_m``

    References
    ----------
    Pineda, SIGGRAPH 1988 (edge functions). Naive twin: tests/reference/synth/render/rasterizer.py
    """
    projected = np.empty(vertices_m.shape, np.float64)  # float32 would open gaps: edges differ by rounding
    for v in range(vertices_m.shape[0]):
        x, y, z = np.float64(vertices_m[v, 0]), np.float64(vertices_m[v, 1]), np.float64(vertices_m[v, 2])
        projected[v, 0], projected[v, 1], inverse_z = _project(x, y, z, camera[0], camera[1], camera[2], camera[3])
        projected[v, 2] = inverse_z if z >= NEAR_M else 0.0  # 0 marks a vertex before the near plane
    for v in range(projected.shape[0] if n_closed > 0 else 0):
        if projected[v, 2] == 0.0:
            n_closed = 0  # the near plane opens the mesh: its inside shows
    for t in range(triangles.shape[0]):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        n_front = int(projected[i, 2] > 0.0) + int(projected[j, 2] > 0.0) + int(projected[k, 2] > 0.0)
        if n_front == 3:
            a = (projected[i, 0], projected[i, 1], projected[i, 2])
            b = (projected[j, 0], projected[j, 1], projected[j, 2])
            c = (projected[k, 0], projected[k, 1], projected[k, 2])
            if t < n_closed and (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0.0:
                continue
            _fill_triangle(a, b, c, first_id + t, depth_m, triangle_ids)
        elif n_front > 0:
            p = (np.float64(vertices_m[i, 0]), np.float64(vertices_m[i, 1]), np.float64(vertices_m[i, 2]))
            q = (np.float64(vertices_m[j, 0]), np.float64(vertices_m[j, 1]), np.float64(vertices_m[j, 2]))
            r = (np.float64(vertices_m[k, 0]), np.float64(vertices_m[k, 1]), np.float64(vertices_m[k, 2]))
            _fill_clipped(p, q, r, camera, first_id + t, depth_m, triangle_ids)


def render_depth(
    vertices_m: np.ndarray,
    triangles: np.ndarray,
    intrinsics: Intrinsics,
    height: int,
    width: int,
    depth_m: np.ndarray | None = None,
    triangle_ids: np.ndarray | None = None,
    first_id: int = 0,
    n_closed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Render a mesh to depth, alone or into the buffers of an earlier call.

    To render several meshes into one image, pass the buffers that the first call returned, and a ``first_id`` beyond
    the first mesh's triangles.

    Parameters
    ----------
    vertices_m : float (V, 3), metres
        Camera axes (x right, y down, z forward).
    triangles : int (T, 3)
        Rows of ``vertices_m``; either winding.
    intrinsics : Intrinsics, pixels
        Integer = pixel centre.
    height, width : int, pixels
    depth_m, triangle_ids : arrays, optional
        The buffers of an earlier call, written in place; both or neither.
    first_id : int
        Id of triangle 0 in ``triangle_ids``.
    n_closed : int
        Number of triangles at the beginning that make a closed surface, counter-clockwise seen from outside. Only their
        front faces are drawn.

    Returns
    -------
    depth_m : float32 (H, W), metres along the optical axis, 0 = nothing
    triangle_ids : int32 (H, W), -1 = nothing

    Raises
    ------
    ValueError
        For arrays of another shape, vertices that are not finite, or a triangle that names a missing vertex.
    """
    vertices_m = np.ascontiguousarray(vertices_m, np.float32)
    triangles = np.ascontiguousarray(triangles, np.int32)
    _check_mesh(vertices_m, triangles)
    if depth_m is None and triangle_ids is None:
        depth_m = np.zeros((height, width), np.float32)
        triangle_ids = np.full((height, width), -1, np.int32)
    if depth_m is None or triangle_ids is None:
        raise ValueError("pass both buffers of an earlier call, depth_m and triangle_ids, or neither")
    _check_buffer("depth_m", depth_m, np.float32, (height, width))
    _check_buffer("triangle_ids", triangle_ids, np.int32, (height, width))
    camera = (float(intrinsics.fx), float(intrinsics.fy), float(intrinsics.cx), float(intrinsics.cy))
    rasterize(vertices_m, triangles, n_closed, camera, first_id, depth_m, triangle_ids)
    return depth_m, triangle_ids


def _check_mesh(vertices_m: np.ndarray, triangles: np.ndarray) -> None:
    if vertices_m.ndim != 2 or vertices_m.shape[1] != 3 or not np.isfinite(vertices_m).all():
        raise ValueError(f"vertices must be finite metres of shape (V, 3), got shape {vertices_m.shape}")
    if triangles.ndim != 2 or triangles.shape[1] != 3:
        raise ValueError(f"triangles must have shape (T, 3), got {triangles.shape}")
    if triangles.size and triangles.view(np.uint32).max() >= len(vertices_m):  # negative ones are the largest
        raise ValueError(f"triangles name vertices outside 0..{len(vertices_m) - 1}")


def _check_buffer(name: str, buffer: np.ndarray, dtype: type, shape: tuple[int, int]) -> None:
    if buffer.dtype != dtype or buffer.shape != shape or not buffer.flags.c_contiguous:
        raise ValueError(f"{name} must be {np.dtype(dtype)} {shape}, C order, got {buffer.dtype} {buffer.shape}")


def paint(triangle_ids: np.ndarray, triangle_labels: np.ndarray) -> np.ndarray:
    """Look up the label of the triangle that each pixel shows.

    Parameters
    ----------
    triangle_ids : int32 (H, W)
        -1 = nothing; ids count through all meshes of the image.
    triangle_labels : uint8 (T,)
        One label a triangle, in id order.

    Returns
    -------
    uint8 (H, W)
        0 where nothing was drawn.
    """
    parts = np.empty(triangle_ids.shape, np.uint8)
    _paint(triangle_ids, np.asarray(triangle_labels, np.uint8), parts)
    return parts


@njit(cache=True)
def _paint(triangle_ids, triangle_labels, out):
    for row in range(triangle_ids.shape[0]):
        for col in range(triangle_ids.shape[1]):
            triangle = triangle_ids[row, col]
            out[row, col] = triangle_labels[triangle] if triangle >= 0 else 0

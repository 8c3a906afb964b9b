"""Eigenvalues and eigenvectors of small real symmetric matrices, W of them side by side.

LAPACK takes one matrix at a time, and for those with a few dozen rows it spends most of its time around the
arithmetic. Here every number is a register that holds it for W matrices: Householder reflections make them
tridiagonal, and implicit QL steps with Wilkinson's shift make them diagonal (Golub and Van Loan, 8.3). A matrix whose
numbers are settled waits for the others of its register and stays as it is, so what is found does not depend on them.
"""

from typing import Any

from mcquack.simulators.compiled.inner import inner
from mcquack.simulators.compiled.lanes import (
    away_from_zero,
    fma,
    lane_sum,
    load,
    sizes,
    splat,
    square_root,
    store,
    where_below,
)

_MOST_STEPS = 30  # for each eigenvalue; two are usual
_EPSILON = 2.0**-53
_TINY = 1e-40  # stands for zero: squares of larger numbers can be divided by


@inner
def _reflect(matrices: Any, k: int, size: int, work: Any) -> Any:
    """Turns row k of a matrix into its reflection vector v, applies that from both sides, and gives 2 / v·v.

    Also given is the number that is left beside the diagonal; all others of the row are zero from then on.
    """
    zero = splat(0.0)
    square = zero
    for j in range(k + 1, size):
        number = load(matrices, k * size + j)
        square = fma(number, number, square)
    first = load(matrices, k * size + k + 1)
    norm = square_root(square)
    half, tiny = fma(sizes(first), norm, square), splat(_TINY * _TINY)  # of v·v
    beside = where_below(tiny, half, where_below(first, zero, norm, -norm), first)
    scale = where_below(tiny, half, splat(1.0) / away_from_zero(half), zero)
    store(matrices, k * size + k + 1, first - beside)
    along = zero
    for i in range(k + 1, size):
        total = zero
        for j in range(k + 1, size):
            total = fma(load(matrices, i * size + j), load(matrices, k * size + j), total)
        total = total * scale
        store(work, i, total)
        along = fma(total, load(matrices, k * size + i), along)
    along = splat(0.5) * scale * along
    for i in range(k + 1, size):
        store(work, i, fma(-along, load(matrices, k * size + i), load(work, i)))
    for i in range(k + 1, size):
        v, w = -load(matrices, k * size + i), -load(work, i)
        for j in range(k + 1, size):
            number = fma(v, load(work, j), load(matrices, i * size + j))
            store(matrices, i * size + j, fma(w, load(matrices, k * size + j), number))
    return beside, scale


@inner
def _product_of_reflections(matrices: Any, scales: Any, size: int, vectors: Any, work: Any) -> None:
    """The orthogonal matrix of all reflections; rows that a reflection leaves alone are those of the identity."""
    zero, one = splat(0.0), splat(1.0)
    for place in range(size * size):
        store(vectors, place, zero)
    for k in range(size):
        store(vectors, k * size + k, one)
    for k in range(size - 3, -1, -1):
        scale = load(scales, k)
        for j in range(k + 1, size):
            store(work, j, zero)
        for i in range(k + 1, size):
            v = load(matrices, k * size + i)
            for j in range(k + 1, size):
                store(work, j, fma(v, load(vectors, i * size + j), load(work, j)))
        for i in range(k + 1, size):
            v = -(scale * load(matrices, k * size + i))
            for j in range(k + 1, size):
                store(vectors, i * size + j, fma(v, load(work, j), load(vectors, i * size + j)))


@inner
def _unsettled(beside: Any, size: int, low: int, limit: Any) -> int:
    """The first row from ``low`` on that is not settled in every lane; ``size - 1`` where all are."""
    while low < size - 1:
        if lane_sum(where_below(limit, sizes(load(beside, low)), splat(1.0), splat(0.0))) > 0:
            break
        low += 1
    return low


@inner
def _rotations(diagonal: Any, beside: Any, low: int, size: int, limit: Any, cosines: Any, sines: Any) -> int:
    """One QL step in every lane, whose rotations are kept; they are those from ``low`` to the row that is given.

    A step spans the first numbers beside the diagonal that are above the limit, as many as follow one another. In
    rows before its start and from its end on, a lane's rotation is by no angle.
    """
    zero, one, tiny = splat(0.0), splat(1.0), splat(_TINY)
    end = splat(float(size - 1))
    last = load(diagonal, size - 1)
    starts, ends, g, slope, off = end, end, zero, zero, one
    above = last
    for j in range(size - 2, low - 1, -1):
        e, d, place = load(beside, j), load(diagonal, j), splat(float(j))
        amount = sizes(e)
        starts, ends = where_below(limit, amount, place, starts), where_below(limit, amount, end, ends)
        slope, off = where_below(limit, amount, above - d, slope), where_below(limit, amount, e, off)
        g = where_below(limit, amount, last - d, g)
        end, last = where_below(limit, amount, end, place), where_below(limit, amount, last, d)
        above = d
    slope = splat(0.5) * slope / off
    root = square_root(fma(slope, slope, one))
    g = g + off / (slope + where_below(slope, zero, -root, root))
    s, c, p, begun = one, one, zero, zero
    top = size - 1
    while lane_sum(where_below(splat(float(top - 1)), ends, one, zero)) == 0:
        top -= 1
    above = load(diagonal, top)
    for i in range(top - 1, low - 1, -1):
        place = splat(float(i))
        on = where_below(place, ends, where_below(place, starts, zero, one), zero)
        e, d = load(beside, i), load(diagonal, i)
        f, b = s * e, c * e
        r = square_root(fma(f, f, g * g))
        inverse = one / away_from_zero(r)
        new_s, new_c = where_below(tiny, r, f * inverse, zero), where_below(tiny, r, g * inverse, one)
        moved = above - p
        turned = fma(d - moved, new_s, splat(2.0) * new_c * b)
        new_p = new_s * turned
        store(beside, i + 1, where_below(zero, on, r * begun, load(beside, i + 1)))
        store(diagonal, i + 1, where_below(zero, on, moved + new_p, above))
        g = where_below(zero, on, fma(new_c, turned, -b), g)
        s, c, p = where_below(zero, on, new_s, s), where_below(zero, on, new_c, c), where_below(zero, on, new_p, p)
        begun = on
        store(sines, i, where_below(zero, on, new_s, zero))
        store(cosines, i, where_below(zero, on, new_c, one))
        ended = where_below(starts, place, zero, on)
        above = where_below(zero, ended, d - p, d)
        store(diagonal, i, above)
        store(beside, i, where_below(zero, ended, g, e))
    return top


@inner
def _rotate(vectors: Any, low: int, top: int, size: int, cosines: Any, sines: Any) -> None:
    for row in range(0, size * size, size):
        carried = load(vectors, row + top)
        for i in range(top - 1, low - 1, -1):
            c, s, z = load(cosines, i), load(sines, i), load(vectors, row + i)
            store(vectors, row + i + 1, fma(s, z, c * carried))
            carried = fma(-s, carried, c * z)
        store(vectors, row + low, carried)


@inner
def eigensystems(matrices: Any, values: Any, vectors: Any, work: Any) -> None:
    """Eigenvalues (D, W) in no order and eigenvectors (D, D, W), column by column, of matrices (D, D, W).

    The matrices are overwritten; ``work`` is memory (5, D, W). All arrays begin on a multiple of a row.
    """
    size = values.shape[0]
    beside, scales, cosines, sines, spare = work[0], work[1], work[2], work[3], work[4]
    for k in range(size - 2):
        left, scale = _reflect(matrices, k, size, spare)
        store(beside, k, left)
        store(scales, k, scale)
    store(beside, size - 1, splat(0.0))
    if size > 1:
        store(beside, size - 2, load(matrices, (size - 2) * size + size - 1))
    limit = splat(0.0)
    for k in range(size):
        number = load(matrices, k * size + k)
        store(values, k, number)
        amount = sizes(number) + sizes(load(beside, k))
        limit = where_below(limit, amount, amount, limit)
    limit = fma(splat(_EPSILON), limit, splat(_TINY))
    _product_of_reflections(matrices, scales, size, vectors, spare)
    low = 0
    for _ in range(_MOST_STEPS * size):
        low = _unsettled(beside, size, low, limit)
        if low == size - 1:
            break
        top = _rotations(values, beside, low, size, limit, cosines, sines)
        _rotate(vectors, low, top, size, cosines, sines)

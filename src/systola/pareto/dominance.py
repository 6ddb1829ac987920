"""Which vectors are dominated, asked of thousands about thousands. Every objective is minimised.

Vectors are dealt into buckets by each objective but the last, and a table has, for each combination of buckets, the
least last objective of all vectors in these buckets or below. Two cells of it answer most questions at once; the
others are settled in one bucket per objective, where sixteen vectors are compared in an instruction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import DTypeLike

from systola.jit.compile import called, inlined
from systola.jit.emit import loop, variable_of
from systola.jit.private import INLINED
from systola.simd.bits import count_ones, lowest_one
from systola.simd.rows import VECTOR_WIDTH, spread

MOST_OBJECTIVES = 4
BLOCK = 16
FILTER_SIZE = 1024  # see `sift`
_BUCKETS = BLOCK * BLOCK
_CUTS = BLOCK + _BUCKETS  # the coarse ones, then the fine ones
_SAMPLE = 128  # of the vectors: enough to share them out evenly
_FEW = 4 * BLOCK  # up to this size a linear scan beats the index, unless there are many queries
_OPEN = 2
_NOBODY = 1 << 62


class Room(NamedTuple):
    """Work space: an index of vectors (see `fill`) and two lists of rows. Made by `make_room`, used again and again."""

    cuts: Any  # where buckets end, objective by objective
    starts: Any  # [objective, bucket] its first place
    blocks: Any  # the vectors, bucket by bucket: sixteen first objectives, sixteen second ones, and so on
    owners: Any  # [objective, place] the number of each vector
    table: Any  # the least last objective, by buckets
    places: Any  # [objective, vector] its bucket
    state: Any  # how many vectors; how many bits of a bucket's number are dropped; how many objectives have buckets
    top: Any  # the largest number there is
    rows: Any
    others: Any


def make_room(members: int, candidates: int, k: int, dtype: DTypeLike) -> Room:
    """Room for so many members and candidates of k objectives, whose numbers are of this type."""
    kind = np.dtype(dtype)
    dims = max(k - 1, 1)
    most = max(members, candidates, FILTER_SIZE)
    places = -(-most // BLOCK) * BLOCK
    cells = ((_BUCKETS >> _coarseness(most, dims)) + 1) ** dims
    return Room(
        cuts=np.zeros(dims * _CUTS, kind),
        starts=np.zeros((dims, _BUCKETS + 1), np.int64),
        blocks=np.zeros(dims * places * k, kind),
        owners=np.zeros((dims, places), np.int64),
        table=np.zeros(cells, kind),
        places=np.zeros((dims, places), np.uint8),
        state=np.zeros(3, np.int64),
        top=np.array([np.inf if kind.kind == "f" else np.iinfo(kind).max], kind),
        rows=np.zeros(candidates, np.int64),
        others=np.zeros(max(members, FILTER_SIZE), np.int64),
    )


@inlined
def dominates(a: Any, i: Any, b: Any, j: Any, k: Any) -> Any:
    """Whether a[i] is nowhere larger than b[j], and smaller somewhere, in the first k numbers."""
    smaller = False
    for d in range(k):
        if a[i, d] > b[j, d]:
            return False
        smaller = smaller or a[i, d] < b[j, d]
    return smaller


@called
def fill(room: Any, points: Any, rows: Any, n: Any, k: Any, offset: Any, asked: Any) -> None:
    """Make the index of points[rows[a]], a < n, for about `asked` questions.

    The number of a vector is its row plus `offset`: of equal vectors, the one with the lowest number dominates.
    """
    for d in range(prepare(room, n, k, asked)):
        deal(room, points, rows, k, d, offset)
    tabulate(room, points, rows, k)


@called
def screen(room: Any, points: Any, rows: Any, first: Any, last: Any, k: Any, kept: Any) -> None:
    """For each row q of rows[first:last], write to kept[q] whether no vector of the index dominates points[q]."""
    cuts, starts, blocks, owners, table = room.cuts, room.starts, room.blocks, room.owners, room.table
    n, shift, dims, top = room.state[0], room.state[1], room.state[2], room.top[0]
    width = (_BUCKETS >> shift) + 1
    for a in range(first, last):  # branch-free: the branch is unpredictable
        q = rows[a]
        value = points[q, k - 1]
        low, up = 0, 1 if dims == 0 else 0
        for d in range(dims):
            low = low * width + _locate(cuts, d, points, q, shift)
            up = up * width + 1
        below = (table[low] <= value) & (value != top)  # a vector lies in lower buckets in all objectives
        kept[q] = 1 + (table[low + up] <= value) - 2 * below
    for a in range(first, last):
        q = rows[a]
        if kept[q] != _OPEN:
            continue
        found = False
        if dims == 0 or points[q, k - 1] == top:  # the table cannot tell
            found = _scan(blocks, owners, 0, 0, n, points, q, k)
        else:
            for d in range(dims):
                if not found:
                    b = _locate(cuts, d, points, q, shift)
                    found = _scan(blocks, owners, d, starts[d, b], starts[d, b + 1], points, q, k)
        kept[q] = not found


@inlined
def prepare(room: Any, n: Any, k: Any, asked: Any) -> Any:
    """The first third of `fill`: by how many objectives to deal the vectors."""
    dims = max(k - 1, 1) if n > _FEW or 0 < _BUCKETS * n < asked else 0
    room.state[0], room.state[1], room.state[2] = n, 8, dims
    if dims > 0:
        room.state[1] = _coarseness(max(n, asked // 8), dims)
    return max(dims, 1)


@called
def deal(room: Any, points: Any, rows: Any, k: Any, d: Any, offset: Any) -> None:
    """The second third of `fill`: put the vectors in order of their buckets of objective d."""
    cuts, starts, blocks, owners, places = room.cuts, room.starts, room.blocks, room.owners, room.places
    n, shift, dims, top = room.state[0], room.state[1], room.state[2], room.top[0]
    buckets = _BUCKETS >> shift
    base = d * owners.shape[1] * k
    if dims > 0:
        _cut(cuts, d, points, rows, n, blocks, base, top)
    for b in range(buckets + 1):
        starts[d, b] = 0
    for a in range(n):
        b = _locate(cuts, d, points, rows[a], shift)
        places[d, a] = b
        starts[d, b + 1] += 1
    for b in range(buckets):
        starts[d, b + 1] += starts[d, b]
    for a in range(n):
        b = places[d, a]
        at = starts[d, b]
        starts[d, b] = at + 1
        owners[d, at] = rows[a] + offset
        spot = base + at // BLOCK * (k * BLOCK) + at % BLOCK
        blocks[spot] = points[rows[a], 0]  # a loop would take half as long again
        if k > 1:
            blocks[spot + BLOCK] = points[rows[a], 1]
        if k > 2:
            blocks[spot + 2 * BLOCK] = points[rows[a], 2]
        if k > 3:
            blocks[spot + 3 * BLOCK] = points[rows[a], 3]
    for b in range(buckets, 0, -1):  # each start has become the next one
        starts[d, b] = starts[d, b - 1]
    starts[d, 0] = 0
    for at in range(n, -(-n // BLOCK) * BLOCK):  # the last block is compared as a whole
        owners[d, at] = _NOBODY
        for e in range(k):
            blocks[base + at // BLOCK * (k * BLOCK) + e * BLOCK + at % BLOCK] = top


@called
def tabulate(room: Any, points: Any, rows: Any, k: Any) -> None:
    """The last third of `fill`: the table, with a border of largest numbers for what is below the lowest bucket."""
    table, places, top = room.table, room.places, room.top[0]
    n, shift, dims = room.state[0], room.state[1], max(room.state[2], 1)
    width = (_BUCKETS >> shift) + 1
    cells = width**dims
    for t in range(cells):
        table[t] = top
    for a in range(n):
        t = np.int64(places[0, a]) + 1
        if dims > 1:
            t = t * width + places[1, a] + 1
        if dims > 2:
            t = t * width + places[2, a] + 1
        table[t] = min(table[t], points[rows[a], k - 1])
    for row in range(0, cells, width):
        least = top
        for t in range(row, row + width):
            least = min(least, table[t])
            table[t] = least
    span = width
    while span < cells:
        for row in range(span, cells, span):
            if row % (span * width) != 0:
                for t in range(row, row + span):
                    table[t] = min(table[t], table[t - span])
        span *= width


@inlined
def _coarseness(n: Any, dims: Any) -> Any:
    """How many bits of a bucket's number to drop, for a table of about n cells."""
    shift = 5
    while shift > 3 * (dims > 2) and (_BUCKETS >> shift) ** dims < n:
        shift -= 1
    return shift


@called
def _cut(cuts: Any, d: Any, points: Any, rows: Any, n: Any, scratch: Any, base: Any, top: Any) -> None:
    """Where the buckets of objective d end, from a sample of the vectors."""
    count = min(n, _SAMPLE)
    for a in range(count):
        scratch[base + a] = points[rows[a * n // count], d]
    for gap in (57, 23, 10, 4, 1):  # Shell's sort with Ciura's gaps
        for a in range(gap, count):
            value = scratch[base + a]
            b = a
            while b >= gap and scratch[base + b - gap] > value:
                scratch[base + b] = scratch[base + b - gap]
                b -= gap
            scratch[base + b] = value
    fine = d * _CUTS + BLOCK
    for j in range(_BUCKETS - 1):
        cuts[fine + j] = scratch[base + (j + 1) * count // _BUCKETS]
    cuts[fine + _BUCKETS - 1] = top
    for j in range(BLOCK):
        cuts[d * _CUTS + j] = cuts[fine + j * BLOCK + BLOCK - 1]


@inlined
def _locate(cuts: Any, d: Any, points: Any, q: Any, shift: Any) -> Any:
    """The bucket of points[q, d]: how many cuts are not above it, counted among the coarse ones first."""
    coarse = min(count_ones(weakly_dominating(cuts, d * _CUTS, points, q, d, 1)), BLOCK - 1)
    fine = min(count_ones(weakly_dominating(cuts, d * _CUTS + (coarse + 1) * BLOCK, points, q, d, 1)), BLOCK - 1)
    return (coarse * BLOCK + fine) >> shift


@inlined
def _scan(blocks: Any, owners: Any, d: Any, first: Any, last: Any, points: Any, q: Any, k: Any) -> Any:
    """Whether a vector in these places dominates points[q]; others in their blocks may do so, too."""
    base = d * owners.shape[1] * k
    for b in range(first // BLOCK, (last + BLOCK - 1) // BLOCK):
        spot = base + b * k * BLOCK
        hits = weakly_dominating(blocks, spot, points, q, 0, k)
        while hits != 0:
            lane = lowest_one(hits)
            hits &= hits - 1
            same = True
            for e in range(k):
                same = same and blocks[spot + e * BLOCK + lane] == points[q, e]
            if not same or owners[d, b * BLOCK + lane] < q:
                return True
    return False


def weakly_dominating(blocks: Any, place: Any, points: Any, q: Any, d: Any, k: Any) -> Any:
    """A bit for each of the sixteen vectors from blocks[place] on: whether it is nowhere above points[q, d:d + k]."""
    hits = 0
    for lane in range(BLOCK):
        hit = True
        for e in range(k):
            hit = hit and blocks[place + e * BLOCK + lane] <= points[q, d + e]
        hits |= int(hit) << lane
    return hits


@intrinsic  # type: ignore[untyped-decorator]
def _weakly_dominating_vectors(typing: Any, blocks: Any, place: Any, points: Any, q: Any, d: Any, k: Any) -> Any:
    kind = blocks.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        blocks, place, points, q, d, k = args
        line, whole = ir.VectorType(context.get_data_type(kind), BLOCK), ir.IntType(32)
        compare = builder.fcmp_ordered if isinstance(kind, types.Float) else builder.icmp_signed
        numbers = context.make_array(signature.args[0])(context, builder, blocks).data
        vectors = context.make_array(signature.args[2])(context, builder, points)
        first = builder.add(builder.mul(q, builder.extract_value(vectors.shape, 1)), d)
        hits = variable_of(builder, ir.Constant(ir.VectorType(ir.IntType(1), BLOCK), [1] * BLOCK))
        with loop(builder, 0, k) as j:
            at = builder.add(place, builder.mul(j, ir.Constant(place.type, BLOCK)))
            pointer = builder.bitcast(builder.gep(numbers, [at]), line.as_pointer())
            theirs = builder.load(pointer, align=kind.bitwidth // 8)
            mine = builder.load(builder.gep(vectors.data, [builder.add(first, j)]))
            one = builder.insert_element(ir.Constant(line, ir.Undefined), mine, ir.Constant(whole, 0))
            spread = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(whole, BLOCK), [0] * BLOCK))
            builder.store(builder.and_(builder.load(hits), compare("<=", theirs, spread)), hits)
        return builder.zext(builder.bitcast(builder.load(hits), ir.IntType(BLOCK)), ir.IntType(64))

    return types.int64(blocks, types.int64, points, types.int64, types.int64, types.int64), generate


@overload(weakly_dominating, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_weakly_dominating(blocks: Any, place: Any, points: Any, q: Any, d: Any, k: Any) -> Any:
    kinds = types.int32, types.int64, types.float64
    if blocks.layout == points.layout == "C" and blocks.dtype == points.dtype and blocks.dtype in kinds:
        return lambda blocks, place, points, q, d, k: _weakly_dominating_vectors(
            blocks, np.int64(place), points, np.int64(q), np.int64(d), np.int64(k)
        )
    return weakly_dominating


def exceed(block: Any, at: Any, count: Any, column: Any, sign: Any, value: Any, equal: Any, spare: Any) -> Any:
    """A bit for each row at + q, q < count: whether sign times its number in this column is above the value, or not
    below it if `equal`. `count` is at most VECTOR_WIDTH; `spare` says that so many rows may be read in any case."""
    hits = 0
    for q in range(count):
        number = sign * block[at + q, column]
        hits |= int(number >= value if equal else number > value) << q
    return hits


@intrinsic  # type: ignore[untyped-decorator]
def _exceeding_vectors(
    typing: Any, block: Any, at: Any, count: Any, column: Any, sign: Any, value: Any, equal: Any
) -> Any:
    kind = block.dtype

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block, at, count, column, sign, value, equal = args
        line = ir.VectorType(context.get_data_type(kind), VECTOR_WIDTH)
        numbers = context.make_array(signature.args[0])(context, builder, block)
        first = builder.add(at, builder.mul(column, builder.extract_value(numbers.shape, 0)))
        pointer = builder.bitcast(builder.gep(numbers.data, [first]), line.as_pointer())
        theirs = builder.load(pointer, align=kind.bitwidth // 8)
        floating = isinstance(kind, types.Float)
        signed = (builder.fmul if floating else builder.mul)(theirs, spread(builder, sign))
        compare = builder.fcmp_ordered if floating else builder.icmp_signed
        masks = [
            builder.bitcast(compare(how, signed, spread(builder, value)), ir.IntType(VECTOR_WIDTH))
            for how in (">=", ">")
        ]
        hits = builder.zext(builder.select(equal, *masks), ir.IntType(64))
        one = ir.Constant(ir.IntType(64), 1)
        return builder.and_(hits, builder.sub(builder.shl(one, count), one))

    return types.int64(block, types.int64, types.int64, types.int64, kind, kind, types.boolean), generate


@overload(exceed, strict=False, jit_options=INLINED)  # type: ignore[untyped-decorator]
def _compile_exceed(block: Any, at: Any, count: Any, column: Any, sign: Any, value: Any, equal: Any, spare: Any) -> Any:
    if block.layout != "F" or block.dtype not in (types.int64, types.float64):
        return exceed

    def by_vectors(block: Any, at: Any, count: Any, column: Any, sign: Any, value: Any, equal: Any, spare: Any) -> Any:
        if not spare:
            hits = np.int64(0)
            for q in range(count):
                number = sign * block[at + q, column]
                hits |= np.int64(number >= value if equal else number > value) << q
            return hits
        kind = block.dtype.type
        return _exceeding_vectors(
            block, np.int64(at), np.int64(count), np.int64(column), kind(sign), kind(value), bool(equal)
        )

    return by_vectors

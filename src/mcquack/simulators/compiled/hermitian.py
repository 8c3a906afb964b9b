"""Hermitian 4 × 4 matrices in 16 registers, for chains of qubits on a ring: code that is unrolled as it is generated.

A Hermitian matrix M is kept as the real one R = Re M + Im M. Its product entry by entry with a Hermitian C is
Re C ∘ R + Im C ∘ Rᵀ, and a Walsh-Hadamard transform acts on R as on M.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mcquack.simulators.compiled.lanes import LanesType, Staged, StagedRows, everywhere

N_ENTRIES = 16

# Polynomials of matrices, for distributions of numbers of ones: the entry R[ket, bra] is in row ket + 4 bra


def _hadamard_of(builder: ir.IRBuilder, registers: list[Staged]) -> list[Staged]:
    """H of 16 registers, while code is being generated."""
    entries = [register.value for register in registers]
    for bit in (1, 2, 4, 8):
        for low in range(N_ENTRIES):
            if not low & bit:
                one, two = entries[low], entries[low | bit]
                entries[low], entries[low | bit] = builder.fadd(one, two), builder.fsub(one, two)
    return [Staged(builder, entry) for entry in entries]


def _store_all(rows: StagedRows, places: list[ir.Value], registers: list[Staged]) -> None:
    for place, register in zip(places, registers, strict=True):
        rows.store(place, register)


class _StagedTable:
    """The real and imaginary parts (2, 16) of a table as registers with the same number in every lane."""

    def __init__(self, context: Any, builder: ir.IRBuilder, array_type: types.Array, array: ir.Value) -> None:
        self.context, self.builder, self.lanes = context, builder, LanesType(array_type.dtype)
        self.data = context.make_array(array_type)(context, builder, array).data

    def __getitem__(self, place: int) -> Staged:
        address = self.builder.gep(self.data, [ir.Constant(ir.IntType(64), place)], source_etype=ir.DoubleType())
        number = self.builder.load(address, typ=ir.DoubleType())
        return Staged(self.builder, everywhere(self.context, self.builder, self.lanes, number))


def _product(table: Any, offset: int, v: list[Staged], added: list[Staged] | None) -> list[Staged]:
    """C ∘ M for the Hermitian C of a table, plus what is to be added to it."""
    out = list(v)
    for bra in range(4):
        for ket in range(bra, 4):
            here, there = ket + 4 * bra, bra + 4 * ket
            real, imag = table[offset + here], table[offset + N_ENTRIES + here]
            for own, other, turned in ((here, there, imag), (there, here, -imag))[: 1 if ket == bra else 2]:
                value = real * v[own] if added is None else real.fma(v[own], added[own])
                out[own] = value if ket == bra else turned.fma(v[other], value)
    return out


@intrinsic
def advance(
    typingctx: Any,
    before: types.Type,
    tile: types.Type,
    weights: types.Type,
    joint: types.Type,
    after: types.Type,
    between: types.Type,
) -> Any:
    """H (g ∘ H (f(z) ∘ M)) of one coefficient, all of it in registers; an array ``between`` keeps H (f(z) ∘ M)."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        f, g = (_StagedTable(context, builder, kind, args[place]) for kind, place in ((weights, 2), (joint, 3)))
        first = builder.mul(args[1], ir.Constant(ir.IntType(64), N_ENTRIES))
        places = [builder.add(first, ir.Constant(ir.IntType(64), k)) for k in range(N_ENTRIES)]
        previous = [builder.sub(place, ir.Constant(ir.IntType(64), N_ENTRIES)) for place in places]
        rows = StagedRows(context, builder, before, args[0])
        weighed = _product(f, 2 * N_ENTRIES, [rows.load(place) for place in previous], None)
        weighed = _product(f, 0, [rows.load(place) for place in places], weighed)
        turned = _hadamard_of(builder, weighed)
        if not isinstance(between, types.NoneType):
            _store_all(StagedRows(context, builder, between, args[5]), places, turned)
        joined = _hadamard_of(builder, _product(g, 0, turned, None))
        _store_all(StagedRows(context, builder, after, args[4]), places, joined)
        return context.get_dummy_value()

    return types.none(before, types.int64, weights, joint, after, between), code


@intrinsic
def add_inner(
    typingctx: Any, u: types.Type, tile: types.Type, v: types.Type, other: types.Type, addend: types.Type
) -> Any:
    """addend + Σ u v over the entries of two coefficients, lane by lane."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        total = Staged(builder, args[4])
        rows = [StagedRows(context, builder, kind, args[place]) for kind, place in ((u, 0), (v, 2))]
        first = [builder.mul(args[place], ir.Constant(ir.IntType(64), N_ENTRIES)) for place in (1, 3)]
        for k in range(N_ENTRIES):
            places = (builder.add(at, ir.Constant(ir.IntType(64), k)) for at in first)
            one, two = (of.load(place) for of, place in zip(rows, places, strict=True))
            total = one.fma(two, total)
        return total.value

    return addend(u, types.int64, v, types.int64, addend), code


# Environments, for shots of a noisy ring: the entry between (w, τ) and (v, σ) is in row w + 2τ + 4v + 8σ


def _environment_product(registers: list[Staged], of_row: Any, *, turn: Any) -> list[Staged]:
    """C ∘ M, while code is being generated; C depends on w and v alone, and is C[0, 0], C[1, 1] and both of C[0, 1]."""
    out = []
    for k, own in enumerate(registers):
        w, v = k & 1, k >> 2 & 1
        if w == v:
            out.append(of_row[w] * own)
        else:
            mirrored = registers[k >> 2 | (k & 3) << 2]
            out.append((of_row[3] if v else turn).fma(mirrored, of_row[2] * own))
    return out


def _hadamard_of_parities(builder: ir.IRBuilder, registers: list[Staged]) -> list[Staged]:
    """The Walsh-Hadamard transform over w and v."""
    values = [register.value for register in registers]
    for bit in (1, 4):
        pairs = [(values[k & ~bit], values[k | bit], k & bit) for k in range(16)]
        values = [builder.fsub(one, two) if high else builder.fadd(one, two) for one, two, high in pairs]
    return [Staged(builder, value) for value in values]


@intrinsic
def prepend(typingctx: Any, later: types.Type, own: types.Type, mixing: types.Type, out: types.Type) -> Any:
    """The environment one qubit earlier: C ∘, where C has the rows ``own``, and the sum over differences with a ⊗ a*.

    ``mixing`` has C[0, 0], C[1, 1] and C[0, 1] of the transformed a ⊗ a*, divided by 4.
    """

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        source, rows, factors, target = (
            StagedRows(context, builder, *given) for given in zip((later, own, mixing, out), args, strict=True)
        )
        at = [ir.Constant(ir.IntType(64), k) for k in range(16)]
        registers = [source.load(place) for place in at]
        for table in (rows, factors):
            of_row = [table.load(place) for place in at[:4]]
            registers = _hadamard_of_parities(builder, _environment_product(registers, of_row, turn=-of_row[3]))
        for place, register in zip(at, registers, strict=True):
            target.store(place, register)
        return context.get_dummy_value()

    return types.none(later, own, mixing, out), code


@intrinsic
def state_weight(typingctx: Any, state: types.Type, equal: types.Type, unequal: types.Type) -> Any:
    """The chance of the bits so far: Σ v v* E over equal and over unequal primed parities.

    Sums and differences of the two that have w' and τ' both turned see the sum and the difference of the environments.
    """

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        rows, same, other = (
            StagedRows(context, builder, *given) for given in zip((state, equal, unequal), args, strict=True)
        )

        def at(row: int) -> Any:
            return ir.Constant(ir.IntType(64), row)

        def number(ket: int, primed: int, part: int) -> Any:
            """Of the state, with w and τ in ``ket``, and w' and τ' in ``primed``."""
            index = ket & 1 | (primed & 1) << 1 | (ket & 2) << 1 | (primed & 2) << 2
            return rows.load(at(2 * index + part)).value

        total: Any = None
        for combine in (builder.fadd, builder.fsub):

            def combined(ket: int, primed: int, part: int, combine: Any = combine) -> Staged:
                return Staged(builder, combine(number(ket, primed, part), number(ket, primed ^ 3, part)))

            environment = [combine(same.load(at(k)).value, other.load(at(k)).value) for k in range(16)]
            vectors = [[[combined(ket, primed, part) for part in (0, 1)] for ket in range(4)] for primed in (0, 1)]
            for ket in range(4):
                for bra in range(ket + 1):
                    here, there = environment[ket + 4 * bra], environment[bra + 4 * ket]
                    real = _total((v[ket][part], v[bra][part]) for v in vectors for part in (0, 1))
                    if ket == bra:
                        total = _plus(total, real, Staged(builder, here))
                        continue
                    imag = _total(pair for v in vectors for pair in ((v[ket][1], v[bra][0]), (-v[ket][0], v[bra][1])))
                    total = _plus(total, real, Staged(builder, builder.fadd(here, there)))
                    total = _plus(total, imag, Staged(builder, builder.fsub(there, here)))
        half = ir.Constant(total.value.type, [0.5] * total.value.type.count)
        return builder.fmul(total.value, half)

    return LanesType(state.dtype)(state, equal, unequal), code


def _total(products: Any) -> Any:
    """The sum of products of registers, while code is being generated."""
    total = None
    for left, right in products:
        total = _plus(total, left, right)
    return total


def _plus(total: Any, left: Staged, right: Staged) -> Staged:
    return left * right if total is None else left.fma(right, total)

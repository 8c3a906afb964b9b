"""A register of many samples, as a Numba type: ``Lanes`` holds the same number of W samples side by side.

Numba vectorises loops over arrays only behind run-time alias checks, which cost more than the loop when a loop is
one register long. Here a register is a value: arithmetic on it is one machine instruction, and a row of an array is
as long as a register of the processor that the code is compiled for.
"""

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from mcquack.simulators.compiled.inner import inner


@cache
def processor() -> str:
    """Return the name and the features of the processor that Numba compiles for."""
    features = config.CPU_FEATURES
    if features is None:
        features = ",".join(
            f"{'+' if has and (config.ENABLE_AVX or not name.startswith('avx')) else '-'}{name}"
            for name, has in sorted(_host_features().items())
        )
    return f"{config.CPU_NAME or binding.get_host_cpu_name()} {features}"


def _host_features() -> dict[str, bool]:
    try:
        return dict(binding.get_host_cpu_features())
    except RuntimeError:  # LLVM does not know this processor
        return {}


@cache
def row_bytes() -> int:
    """Return the size of a row: 64 with AVX-512, else 32, which is 16 or 8 float32 and 8 or 4 float64.

    Wider rows than registers would be split, and their halves compete for registers. The size differs between
    processors, so no file holds such rows.
    """
    return 64 if "+avx512f" in processor().replace(" ", ",").split(",") else 32


def lane_count(dtype: np.dtype[Any] | type) -> int:
    """Return W: how many samples of this float type one row holds."""
    return row_bytes() // np.dtype(dtype).itemsize


class LanesType(types.Type):
    """W floats that are added, subtracted, multiplied, divided and negated together."""

    def __init__(self, dtype: types.Float) -> None:
        self.dtype = dtype
        self.width = row_bytes() * 8 // dtype.bitwidth
        super().__init__(name=f"lanes({dtype})")


Lanes: TypeAlias = LanesType
"""A register, as an argument of compiled functions."""
Pointer: TypeAlias = types.CPointer
"""Where an array begins, as an argument of compiled functions."""


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, fe_type: LanesType) -> None:
        element = ir.FloatType() if fe_type.dtype.bitwidth == 32 else ir.DoubleType()
        super().__init__(manager, fe_type, ir.VectorType(element, fe_type.width))


# No freedom to fuse or reorder: the compiler meets the same function in several modules, and what it made of each must
# round alike. Where a product and a sum are to be one instruction, ``fma`` says so.
_FLAGS = ("nsz",)


def _fused(builder: ir.IRBuilder, left: ir.Value, right: ir.Value, addend: ir.Value) -> ir.Value:
    register = left.type
    bits = 32 if isinstance(register.element, ir.FloatType) else 64
    kind = ir.FunctionType(register, [register] * 3)
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{register.count}f{bits}")
    return builder.call(function, [left, right, addend])


class Staged:
    """A register while code is being generated: Python loops over these unroll into straight code."""

    def __init__(self, builder: ir.IRBuilder, value: ir.Value) -> None:
        self.builder = builder
        self.value = value

    def __mul__(self, other: "Staged") -> "Staged":
        return Staged(self.builder, self.builder.fmul(self.value, other.value, flags=_FLAGS))

    def __neg__(self) -> "Staged":
        return Staged(self.builder, self.builder.fneg(self.value, flags=_FLAGS))

    def fma(self, other: "Staged", addend: "Staged") -> "Staged":
        return Staged(self.builder, _fused(self.builder, self.value, other.value, addend.value))


def _data(context: Any, builder: ir.IRBuilder, kind: types.Type, value: ir.Value) -> ir.Value:
    """Where an array's first element is; what is a pointer says it itself."""
    return context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value


class StagedRows:
    """The rows of a contiguous array, or of what a pointer to one leads to, while code is being generated."""

    def __init__(self, context: Any, builder: ir.IRBuilder, kind: types.Type, value: ir.Value) -> None:
        self.builder = builder
        self.register = context.get_value_type(LanesType(kind.dtype))
        self.data = _data(context, builder, kind, value)

    def _address(self, row: ir.Value) -> ir.Value:
        rows = self.builder.bitcast(self.data, self.register.as_pointer())
        return self.builder.gep(rows, [row], source_etype=self.register)

    def load(self, row: ir.Value) -> Staged:
        loaded = self.builder.load(self._address(row), typ=self.register)
        loaded.align = row_bytes()
        return Staged(self.builder, loaded)

    def store(self, row: ir.Value, register: Staged) -> None:
        stored = self.builder.store(register.value, self._address(row))
        stored.align = row_bytes()


def staged_tuple(builder: ir.IRBuilder, value: ir.Value) -> list[Staged]:
    """The registers of a Numba tuple of ``Lanes``."""
    return [Staged(builder, item) for item in cgutils.unpack_tuple(builder, value)]


def packed_tuple(context: Any, builder: ir.IRBuilder, registers: Sequence[Staged], tuple_type: types.Type) -> ir.Value:
    """The inverse of :func:`staged_tuple`."""
    return context.make_tuple(builder, tuple_type, [register.value for register in registers])


@intrinsic
def pointer(typingctx: Any, array: types.Type) -> Any:
    """Where a contiguous array begins, for short functions that are called often: an array costs them ten arguments.

    It keeps nothing alive, so whoever takes it holds the array.
    """

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return _data(context, builder, array, args[0])

    return (types.CPointer(array.dtype)(array), code) if array.layout == "C" else None


@intrinsic
def at(typingctx: Any, place: types.Type, index: types.Type) -> Any:
    """The element at ``index`` behind a pointer."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        element = context.get_data_type(place.dtype)
        return builder.load(builder.gep(args[0], [args[1]], source_etype=element), typ=element)

    return place.dtype(place, types.int64), code


@intrinsic
def put(typingctx: Any, place: types.Type, index: types.Type, number: types.Type) -> Any:
    """Writes a number to ``index`` behind a pointer."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        builder.store(args[2], builder.gep(args[0], [args[1]], source_etype=context.get_data_type(place.dtype)))
        return context.get_dummy_value()

    return types.none(place, types.int64, place.dtype), code


@intrinsic
def add_at(typingctx: Any, place: types.Type, index: types.Type, number: types.Type) -> Any:
    """Adds a number to the element at ``index`` behind a pointer."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        element = context.get_data_type(place.dtype)
        address = builder.gep(args[0], [args[1]], source_etype=element)
        builder.store(builder.fadd(builder.load(address, typ=element), args[2]), address)
        return context.get_dummy_value()

    return types.none(place, types.int64, place.dtype), code


@intrinsic
def load(typingctx: Any, array: types.Type, row: types.Type) -> Any:
    """Row ``row`` of a contiguous array that starts on a multiple of a row's size, or of a pointer to one."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return StagedRows(context, builder, array, args[0]).load(args[1]).value

    return LanesType(array.dtype)(array, types.int64), code


@intrinsic
def store(typingctx: Any, array: types.Type, row: types.Type, lanes: types.Type) -> Any:
    """Writes ``lanes`` to row ``row``."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        StagedRows(context, builder, array, args[0]).store(args[1], Staged(builder, args[2]))
        return context.get_dummy_value()

    return types.none(array, types.int64, lanes), code


def everywhere(context: Any, builder: ir.IRBuilder, lanes: LanesType, scalar: ir.Value) -> ir.Value:
    """A register with this number in every lane, while code is being generated."""
    register = context.get_value_type(lanes)
    first = builder.insert_element(ir.Constant(register, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes.width), [0] * lanes.width)
    return builder.shuffle_vector(first, ir.Constant(register, ir.Undefined), zeros)


@intrinsic
def splat(typingctx: Any, scalar: types.Type) -> Any:
    """The same number in every lane."""
    lanes = LanesType(scalar)

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return everywhere(context, builder, lanes, args[0])

    return lanes(scalar), code


@intrinsic
def constant(typingctx: Any, place: types.Type, number: types.Type) -> Any:
    """A small whole number in every lane of a register as they lie behind a pointer."""
    lanes = LanesType(place.dtype)

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        scalar = builder.sitofp(args[1], context.get_value_type(place.dtype))
        return everywhere(context, builder, lanes, scalar)

    return lanes(place, types.int64), code


@intrinsic
def lane_sum(typingctx: Any, lanes: types.Type) -> Any:
    """Sum over the lanes, by halves: always in the same order."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        (total,) = args
        width = lanes.width
        while width > 1:
            width //= 2
            halves = [
                builder.shuffle_vector(total, total, ir.Constant(ir.VectorType(ir.IntType(32), width), list(part)))
                for part in (range(width), range(width, 2 * width))
            ]
            total = builder.fadd(*halves, flags=_FLAGS)
        return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))

    return lanes.dtype(lanes), code


@intrinsic
def halved(typingctx: Any, lanes: types.Type) -> Any:
    """Half of every number."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return builder.fmul(args[0], ir.Constant(args[0].type, [0.5] * lanes.width), flags=_FLAGS)

    return lanes(lanes), code


@intrinsic
def fma(typingctx: Any, left: types.Type, right: types.Type, addend: types.Type) -> Any:
    """left * right + addend, rounded once."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return _fused(builder, *args)

    return left(left, right, addend), code


@intrinsic
def rounded(typingctx: Any, lanes: types.Type) -> Any:
    """The nearest whole numbers."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        kind = ir.FunctionType(args[0].type, [args[0].type])
        name = f"llvm.rint.v{lanes.width}f{lanes.dtype.bitwidth}"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return lanes(lanes), code


def _sizes(builder: ir.IRBuilder, value: ir.Value, lanes: LanesType) -> ir.Value:
    kind = ir.FunctionType(value.type, [value.type])
    name = f"llvm.fabs.v{lanes.width}f{lanes.dtype.bitwidth}"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [value])


@intrinsic
def square_root(typingctx: Any, lanes: types.Type) -> Any:
    """The square root of every number."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        kind = ir.FunctionType(args[0].type, [args[0].type])
        name = f"llvm.sqrt.v{lanes.width}f{lanes.dtype.bitwidth}"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return lanes(lanes), code


@intrinsic
def sizes(typingctx: Any, lanes: types.Type) -> Any:
    """Every number without its sign."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return _sizes(builder, args[0], lanes)

    return lanes(lanes), code


@intrinsic
def where_below(typingctx: Any, left: types.Type, right: types.Type, chosen: types.Type, otherwise: types.Type) -> Any:
    """``chosen`` in the lanes where left < right, ``otherwise`` in the others and where one of both is no number."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[2], args[3])

    return left(left, left, left, left), code


@intrinsic
def away_from_zero(typingctx: Any, lanes: types.Type) -> Any:
    """The numbers themselves, but for those that are nearly zero: in their place 1e-12, or 1e-100 of 64 bits."""
    least = 1e-12 if lanes.dtype.bitwidth == 32 else 1e-100

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        (value,) = args
        limit = ir.Constant(value.type, [least] * lanes.width)
        return builder.select(builder.fcmp_ordered("<", _sizes(builder, value, lanes), limit), limit, value)

    return lanes(lanes), code


@intrinsic
def any_below(typingctx: Any, lanes: types.Type, limit: types.Type) -> Any:
    """Whether any of the numbers is closer to zero than the limit, or is none."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        value, bound = args
        below = builder.fcmp_unordered("<", _sizes(builder, value, lanes), bound)
        flags = builder.bitcast(below, ir.IntType(lanes.width))
        return builder.icmp_unsigned("!=", flags, ir.Constant(flags.type, 0))

    return types.boolean(lanes, limit), code


@intrinsic
def bit_length(typingctx: Any, index: types.Type) -> Any:
    """How many bits a whole number above zero has."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        integer, flag = ir.IntType(64), ir.IntType(1)
        kind = ir.FunctionType(integer, [integer, flag])
        leading = cgutils.get_or_insert_function(builder.module, kind, "llvm.ctlz.i64")
        zeros = builder.call(leading, [args[0], ir.Constant(flag, 1)])
        return builder.sub(ir.Constant(integer, 64), zeros)

    return types.int64(types.int64), code


@intrinsic
def parity(typingctx: Any, index: types.Type) -> Any:
    """0 or 1: the number of one-bits of a whole number, modulo 2."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        integer = ir.IntType(64)
        kind = ir.FunctionType(integer, [integer])
        count = builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.ctpop.i64"), args)
        return builder.and_(count, ir.Constant(integer, 1))

    return types.int64(types.int64), code


@intrinsic
def clipped(typingctx: Any, lanes: types.Type, limit: types.Type) -> Any:
    """The numbers themselves, but for those beyond ±limit: in their place the limit."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        value, bound = args
        kind = ir.FunctionType(value.type, [value.type] * 2)
        for name, end in (("minnum", bound), ("maxnum", builder.fneg(bound))):
            full = f"llvm.{name}.v{lanes.width}f{lanes.dtype.bitwidth}"
            value = builder.call(cgutils.get_or_insert_function(builder.module, kind, full), [value, end])
        return value

    return lanes(lanes, limit), code


@intrinsic
def peak(typingctx: Any, top: types.Type, lanes: types.Type) -> Any:
    """max(top, |lanes|)."""

    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        kind = ir.FunctionType(args[0].type, [args[0].type] * 2)
        name = f"llvm.maxnum.v{lanes.width}f{lanes.dtype.bitwidth}"
        larger = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(larger, [args[0], _sizes(builder, args[1], lanes)])

    return top(top, lanes), code


def _define_operator(symbol: Callable[..., Any], instruction: str, n_operands: int) -> None:
    """Let an operator apply one instruction to registers of the same type."""

    def result_of_two(left: Any, right: Any) -> Any:
        return left if isinstance(left, LanesType) and left == right else None

    def result_of_one(operand: Any) -> Any:
        return operand if isinstance(operand, LanesType) else None

    type_callable(symbol)(lambda context: result_of_two if n_operands == 2 else result_of_one)

    @lower_builtin(symbol, *[LanesType] * n_operands)
    def code(context: Any, builder: ir.IRBuilder, signature: Any, args: Sequence[ir.Value]) -> ir.Value:
        return getattr(builder, instruction)(*args, flags=_FLAGS)


_define_operator(operator.add, "fadd", 2)
_define_operator(operator.sub, "fsub", 2)
_define_operator(operator.mul, "fmul", 2)
_define_operator(operator.truediv, "fdiv", 2)
_define_operator(operator.neg, "fneg", 1)


# Complex numbers in registers: an array (K, 2, W) holds the real and the imaginary row of each.


@inner
def load_complex(array: Any, index: int) -> Any:
    """Return (real, imaginary) of the number at ``index``."""
    return load(array, 2 * index), load(array, 2 * index + 1)


@inner
def store_complex(array: Any, index: int, value: Any) -> None:
    """Write (real, imaginary) to ``index``."""
    store(array, 2 * index, value[0])
    store(array, 2 * index + 1, value[1])


@inner
def times(left: Any, right: Any) -> Any:
    """Return left · right."""
    return fma(left[0], right[0], -(left[1] * right[1])), fma(left[0], right[1], left[1] * right[0])


@inner
def conjugate(value: Any) -> Any:
    """Return the complex conjugate."""
    return value[0], -value[1]


@inner
def times_both(left: Any, right: Any) -> Any:
    """Return left · right and left · conj(right), which share half of their products."""
    real, imag = left[0] * right[0], left[1] * right[0]
    return (
        (fma(-left[1], right[1], real), fma(left[0], right[1], imag)),
        (fma(left[1], right[1], real), fma(-left[0], right[1], imag)),
    )

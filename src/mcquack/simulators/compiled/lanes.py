"""A register of many samples, as a Numba type: ``Lanes`` holds the same number of W samples side by side.

Numba vectorises loops over arrays only behind run-time alias checks, which cost more than the loop when a loop is
one register long. Here a register is a value: arithmetic on it is one machine instruction, and a row of an array is
one cache line (64 bytes: 16 float32 or 8 float64). On processors with narrower registers LLVM splits it.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic

ROW_BYTES = 64


def lane_count(dtype: np.dtype[Any] | type) -> int:
    """W: how many samples of this float type one row holds."""
    return ROW_BYTES // np.dtype(dtype).itemsize


class LanesType(types.Type):
    """W floats that are added, subtracted, multiplied, divided and negated together."""

    def __init__(self, dtype: types.Float) -> None:
        self.dtype = dtype
        self.width = ROW_BYTES * 8 // dtype.bitwidth
        super().__init__(name=f"lanes({dtype})")


@register_default(LanesType)
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


class StagedRows:
    """The rows of a contiguous array while code is being generated."""

    def __init__(self, context: Any, builder: ir.IRBuilder, array_type: types.Array, array: ir.Value) -> None:
        self.builder = builder
        self.register = context.get_value_type(LanesType(array_type.dtype))
        self.data = context.make_array(array_type)(context, builder, array).data

    def _address(self, row: ir.Value) -> ir.Value:
        rows = self.builder.bitcast(self.data, self.register.as_pointer())
        return self.builder.gep(rows, [row], source_etype=self.register)

    def load(self, row: ir.Value) -> Staged:
        loaded = self.builder.load(self._address(row), typ=self.register)
        loaded.align = ROW_BYTES
        return Staged(self.builder, loaded)

    def store(self, row: ir.Value, register: Staged) -> None:
        stored = self.builder.store(register.value, self._address(row))
        stored.align = ROW_BYTES


def staged_tuple(builder: ir.IRBuilder, value: ir.Value) -> list[Staged]:
    """The registers of a Numba tuple of ``Lanes``."""
    return [Staged(builder, item) for item in cgutils.unpack_tuple(builder, value)]


def packed_tuple(context: Any, builder: ir.IRBuilder, registers: Sequence[Staged], tuple_type: types.Type) -> ir.Value:
    """The inverse of :func:`staged_tuple`."""
    return context.make_tuple(builder, tuple_type, [register.value for register in registers])


@intrinsic
def load(typingctx: Any, array: Any, row: Any) -> Any:
    """Row ``row`` of a contiguous array that starts on a multiple of 64 bytes."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return StagedRows(context, builder, array, args[0]).load(args[1]).value

    return LanesType(array.dtype)(array, types.int64), code


@intrinsic
def store(typingctx: Any, array: Any, row: Any, lanes: Any) -> Any:
    """Writes ``lanes`` to row ``row``."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        StagedRows(context, builder, array, args[0]).store(args[1], Staged(builder, args[2]))
        return context.get_dummy_value()

    return types.none(array, types.int64, lanes), code


@intrinsic
def splat(typingctx: Any, scalar: Any) -> Any:
    """The same number in every lane."""
    lanes = LanesType(scalar)

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        register = context.get_value_type(lanes)
        first = builder.insert_element(ir.Constant(register, ir.Undefined), args[0], ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), lanes.width), [0] * lanes.width)
        return builder.shuffle_vector(first, ir.Constant(register, ir.Undefined), everywhere)

    return lanes(scalar), code


@intrinsic
def lane_sum(typingctx: Any, lanes: Any) -> Any:
    """Sum over the lanes, by halves: always in the same order."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
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
def fma(typingctx: Any, left: Any, right: Any, addend: Any) -> Any:
    """left * right + addend, rounded once."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _fused(builder, *args)

    return left(left, right, addend), code


@intrinsic
def rounded(typingctx: Any, lanes: Any) -> Any:
    """The nearest whole numbers."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(args[0].type, [args[0].type])
        name = f"llvm.rint.v{lanes.width}f{lanes.dtype.bitwidth}"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return lanes(lanes), code


@intrinsic
def away_from_zero(typingctx: Any, lanes: Any) -> Any:
    """The numbers themselves, but for those that are nearly zero: in their place 1e-12, or 1e-100 of 64 bits."""
    least = 1e-12 if lanes.dtype.bitwidth == 32 else 1e-100

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (value,) = args
        kind = ir.FunctionType(value.type, [value.type])
        name = f"llvm.fabs.v{lanes.width}f{lanes.dtype.bitwidth}"
        size = builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)
        limit = ir.Constant(value.type, [least] * lanes.width)
        return builder.select(builder.fcmp_ordered("<", size, limit), limit, value)

    return lanes(lanes), code


@intrinsic
def clipped(typingctx: Any, lanes: Any, limit: Any) -> Any:
    """The numbers themselves, but for those beyond ±limit: in their place the limit."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value, bound = args
        kind = ir.FunctionType(value.type, [value.type] * 2)
        for name, end in (("minnum", bound), ("maxnum", builder.fneg(bound))):
            full = f"llvm.{name}.v{lanes.width}f{lanes.dtype.bitwidth}"
            value = builder.call(cgutils.get_or_insert_function(builder.module, kind, full), [value, end])
        return value

    return lanes(lanes, limit), code


class _LanesArithmetic(AbstractTemplate):
    """Operators take registers of one type and return that type."""

    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], LanesType) and all(arg == args[0] for arg in args):
            return signature(args[0], *args)
        return None


def _define_operator(symbol: Callable[..., Any], instruction: str, n_operands: int) -> None:
    infer_global(symbol)(type(f"Lanes_{instruction}", (_LanesArithmetic,), {}))

    @lower_builtin(symbol, *[LanesType] * n_operands)
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args, flags=_FLAGS)


_define_operator(operator.add, "fadd", 2)
_define_operator(operator.sub, "fsub", 2)
_define_operator(operator.mul, "fmul", 2)
_define_operator(operator.truediv, "fdiv", 2)
_define_operator(operator.neg, "fneg", 1)

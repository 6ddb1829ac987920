"""Records that lie somewhere in memory, and calls of functions that are known by their address.

A kernel into which a user's function is compiled serves that function alone. One that is told where the function is,
and where the data lie that it is for, is compiled once for all functions that return the same kind of number.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from llvmlite import ir
from numba import types
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox

from systola.jit.emit import Context

_ADDRESS = ir.IntType(64)


class Signature(Protocol):
    """The types of a call."""

    args: tuple[types.Type, ...]
    return_type: types.Type


class TypeofContext(Protocol):
    """Why Numba asks for a type."""


class UnboxContext(Protocol):
    """What Numba builds the way from Python to compiled code with."""

    @property
    def pyapi(self) -> Any:
        """Calls of Python's own functions."""


class Located(NamedTuple):
    """Where a record lies."""

    record: Any  # one of its type, which is all that counts of it
    address: int


class LocatedType(types.Type):  # type: ignore[misc]
    """What kernels see: an address, of a record of this type."""

    def __init__(self, record: types.Type) -> None:
        self.record = record
        super().__init__(name=f"Located({record})")


@register_model(LocatedType)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: models.DataModel, kind: types.Type) -> None:
        super().__init__(manager, kind, _ADDRESS)


@typeof_impl.register(Located)  # type: ignore[untyped-decorator]
def _typeof(value: Located, context: TypeofContext) -> LocatedType:
    return LocatedType(typeof_impl(value.record, context))


@unbox(LocatedType)  # type: ignore[untyped-decorator]
def _unbox(kind: LocatedType, value: ir.Value, c: UnboxContext) -> NativeValue:
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(address)


def _pointer(builder: ir.IRBuilder, address: ir.Value, kind: ir.Type) -> Any:
    return builder.inttoptr(address, ir.PointerType(kind))


def _load(builder: ir.IRBuilder, pointer: ir.Value, kind: ir.Type) -> Any:
    """What lies there, number by number: of a whole record the optimiser would not drop what is not used."""
    if not isinstance(kind, (ir.LiteralStructType, ir.ArrayType)):
        return builder.load(pointer)
    made, zero = ir.Constant(kind, ir.Undefined), ir.IntType(32)(0)
    parts = kind.elements if isinstance(kind, ir.LiteralStructType) else [kind.element] * kind.count
    for k, part in enumerate(parts):
        place = builder.gep(pointer, [zero, ir.IntType(32)(k)], inbounds=True)
        made = builder.insert_value(made, _load(builder, place, part), k)
    return made


def _disown(context: Context, builder: ir.IRBuilder, kind: types.Type, value: ir.Value) -> Any:
    """The same with arrays that nobody counts references of: those that were counted are gone."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        array.parent = ir.Constant(array.parent.type, None)
        return array._getvalue()
    for k, part in enumerate(kind if isinstance(kind, types.BaseTuple) else ()):
        value = builder.insert_value(value, _disown(context, builder, part, builder.extract_value(value, k)), k)
    return value


@intrinsic  # type: ignore[untyped-decorator]
def record_at(typing: Any, where: Any) -> Any:
    """The record that lies there, which must stay there as long as it is used."""

    def generate(context: Context, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        found = _load(builder, _pointer(builder, args[0], kind), kind)
        return _disown(context, builder, signature.return_type, found)

    return where.record(where), generate


@intrinsic  # type: ignore[untyped-decorator]
def size_of(typing: Any, record: Any) -> Any:
    """How many bytes a record takes."""

    def generate(context: Context, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        return context.get_constant(types.int64, context.get_abi_sizeof(context.get_value_type(record)))

    return types.int64(record), generate


@intrinsic  # type: ignore[untyped-decorator]
def put_record(typing: Any, record: Any, address: Any) -> Any:
    """Lay a record down at an address, where there is room for it."""

    def generate(context: Context, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        builder.store(args[0], _pointer(builder, args[1], context.get_value_type(record)))
        return context.get_dummy_value()

    return types.none(record, types.int64), generate


def _call(context: Context, builder: ir.IRBuilder, signature: Signature, args: list[ir.Value]) -> Any:
    """Call what is at the first argument, compiled for the others: where a record lies, vectors, the last with gaps."""
    result, (_, located, *kinds) = signature.return_type, signature.args
    told = [located, *kinds[:-1], types.Array(kinds[-1].dtype, 1, "A")]
    convention = context.call_conv
    # Without their owners, which outlive the call: nobody needs to count references of them, and it is faster.
    vectors = [_disown(context, builder, *one) for one in zip(told[1:], args[2:], strict=True)]
    function = convention.get_function_type(result, told)
    place = _pointer(builder, args[0], function)
    status, value = convention.call_function(builder, place, result, told, [args[1], *vectors])
    with builder.if_then(status.is_error, likely=False):
        convention.return_status_propagate(builder, status)
    return value


@intrinsic  # type: ignore[untyped-decorator]
def call_whole(typing: Any, code: Any, data: Any, vector: Any) -> Any:
    """A whole number, by the function and of the record at these addresses."""
    return types.int64(types.int64, types.int64, vector), _call


@intrinsic  # type: ignore[untyped-decorator]
def call_real(typing: Any, code: Any, data: Any, vector: Any) -> Any:
    """A real number, by the function and of the record at these addresses."""
    return types.float64(types.int64, types.int64, vector), _call


@intrinsic  # type: ignore[untyped-decorator]
def call_with_two(typing: Any, code: Any, data: Any, vector: Any, written: Any) -> Any:
    """True or false, by the function and of the record at these addresses; it writes to the second vector."""
    return types.boolean(types.int64, types.int64, vector, written), _call

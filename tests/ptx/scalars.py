"""The scalar types of PTX and the C types that hold them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scalar:
    """A type such as `s32`. Kinds: b bits, u unsigned, s signed, f float, p predicate."""

    name: str
    kind: str
    bits: int

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_signed(self) -> bool:
        return self.kind == "s"

    @property
    def c_type(self) -> str:
        """C type with this meaning."""
        return f"{self.kind if self.kind in 'sf' else 'u'}{self.bits}"

    @property
    def word(self) -> str:
        """Unsigned C type of this width: registers are kept as plain bits."""
        return f"u{self.bits}"

    @property
    def wide(self) -> Scalar:
        """The type with twice as many bits."""
        return Scalar(f"{self.kind}{2 * self.bits}", self.kind, 2 * self.bits)

    @property
    def plain(self) -> Scalar:
        """Bits of this width, without a meaning."""
        return Scalar(f"b{self.bits}", "b", self.bits)


SCALARS = {
    f"{kind}{bits}": Scalar(f"{kind}{bits}", kind, bits)
    for kind, widths in {"b": (8, 16, 32, 64, 128), "u": (8, 16, 32, 64), "s": (8, 16, 32, 64), "f": (32, 64)}.items()
    for bits in widths
}
SCALARS["pred"] = Scalar("pred", "p", 8)

U32 = SCALARS["u32"]
U64 = SCALARS["u64"]
PREDICATE = SCALARS["pred"]

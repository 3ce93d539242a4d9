"""Vectors in memory at half precision, and the exact search in them.

A multiplication of half-precision numbers has no fast path in numpy, and turning them into single
precision by its cast costs four times the product. Their bits need no cast: moved 13 places up,
with the sign where it was, they are the single-precision number divided by 2 ** 112, subnormal
ones included. So a block is moved in whole numbers and multiplied with the query times 2 ** 112.
"""

from __future__ import annotations

from typing import Any

__all__ = ["half", "similarities", "unit_rows"]

_SHIFT = 13
_SCALE = 2.0**112
# Sign and the bits of a half-precision number at their new places.
_MASK = 0x8FFFE000 - (1 << 32)
# Numbers a block, so that it stays in the cache.
_BLOCK = 1 << 18


def unit_rows(numpy: Any, vectors: Any) -> Any:
    """Vectors of length 1 at half precision; a row of zeros stays one."""
    # In double precision, in which no square of a single-precision number is too large or lost.
    table = numpy.asarray(vectors, dtype=numpy.float64)
    lengths = numpy.linalg.norm(table, axis=1, keepdims=True)
    scaled = numpy.divide(table, lengths, out=numpy.zeros_like(table), where=lengths > 0)
    return scaled.astype(numpy.float16)


def half(numpy: Any, raw: bytes, dimensions: int) -> Any:
    """A table of half-precision numbers in its bytes, little end first."""
    return numpy.frombuffer(raw, dtype="<f2").reshape(-1, dimensions)


def similarities(numpy: Any, table: Any, query: Any) -> Any:
    """The product of each row of a half-precision table with a query, in single precision.

    Exact but for the rounding of single precision. Cost: about twice that of a table in single
    precision, at half its room.
    """
    bits = table.view(numpy.int16)
    count, dimensions = bits.shape
    rows = max(1, _BLOCK // max(1, dimensions))
    block = numpy.empty((min(rows, count), dimensions), dtype=numpy.int32)
    scaled = (numpy.asarray(query, dtype=numpy.float64) * _SCALE).astype(numpy.float32)
    out = numpy.empty(count, dtype=numpy.float32)
    for start in range(0, count, rows):
        end = min(count, start + rows)
        part = block[: end - start]
        numpy.copyto(part, bits[start:end])
        numpy.left_shift(part, _SHIFT, out=part)
        numpy.bitwise_and(part, _MASK, out=part)
        numpy.dot(part.view(numpy.float32), scaled, out=out[start:end])
    return out

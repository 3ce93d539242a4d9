"""Which reference function is compared with what of ours."""

from __future__ import annotations

from conformance.compare import Subject

from . import chunk_text, footprint, words

SUBJECTS: tuple[Subject, ...] = (
    *chunk_text.SUBJECTS,
    *footprint.SUBJECTS,
    *words.SUBJECTS,
)

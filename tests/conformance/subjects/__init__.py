"""Which reference function is compared with what of ours."""

from __future__ import annotations

from conformance.compare import Subject

from . import chunk_text, engine, footprint, structure, words

SUBJECTS: tuple[Subject, ...] = (
    *chunk_text.SUBJECTS,
    *footprint.SUBJECTS,
    *engine.SUBJECTS,
    *structure.SUBJECTS,
    *words.SUBJECTS,
)

"""Cut documents into passages that can say where they came from.

>>> import spanwise
>>> chunk = spanwise.chunk("# Refunds\\n\\nFive to ten days.")[0]
>>> chunk.citation
'lines 1-3, Refunds'
"""

from spanwise.chunks import Chunk, Chunks, TurnSpan
from spanwise.clips import ClipReport, clip_report
from spanwise.cutting.block_parser import Block
from spanwise.cutting.caps import Cap, cap
from spanwise.cutting.markdown import blocks
from spanwise.cutting.sizers import Measure, Sizer, chars, utf8_bytes, words
from spanwise.documents import Document, Location, Turn
from spanwise.embedders.base import Embedder
from spanwise.errors import (
    CeilingWarning,
    EmbedderError,
    EmptyDocumentWarning,
    LoadError,
    MissingExtraError,
    OptionError,
    SizeError,
    SpanwiseError,
    SpanwiseWarning,
    SplitterError,
    StoreError,
    TokenizerWarning,
)
from spanwise.lexical import WordSpan, lexical_spans, lexical_tokens
from spanwise.loaders import find_documents, load
from spanwise.loaders.base import Loader, Raw
from spanwise.parts import Part
from spanwise.snippets import Highlight, Mark, Snippet, highlight, snippet_around
from spanwise.splitters.base import Splitter
from spanwise.splitters.capped import within
from spanwise.splitters.choose import chunk
from spanwise.splitters.engine import ChunkingEngine
from spanwise.splitters.fixed import fixed_with_overlap, whole_document
from spanwise.splitters.heading import by_heading
from spanwise.splitters.layout import by_layout
from spanwise.splitters.paragraph import by_paragraph
from spanwise.splitters.parts import by_part
from spanwise.splitters.presets import for_answers, for_search
from spanwise.splitters.reasons import Cut, explain
from spanwise.splitters.similarity import by_similarity
from spanwise.splitters.structure import SemanticChunker, by_structure
from spanwise.splitters.text import by_record, by_text, chunk_text
from spanwise.splitters.turns import by_turn, chunk_turns
from spanwise.streams import iter_chunks
from spanwise.tokenizing import tokens

__version__ = "0.1.0"

__all__ = [
    "Block",
    "Cap",
    "CeilingWarning",
    "Chunk",
    "ChunkingEngine",
    "Chunks",
    "ClipReport",
    "Cut",
    "Document",
    "Embedder",
    "EmbedderError",
    "EmptyDocumentWarning",
    "Highlight",
    "LoadError",
    "Loader",
    "Location",
    "Mark",
    "Measure",
    "MissingExtraError",
    "OptionError",
    "Part",
    "Raw",
    "SemanticChunker",
    "SizeError",
    "Sizer",
    "Snippet",
    "SpanwiseError",
    "SpanwiseWarning",
    "Splitter",
    "SplitterError",
    "StoreError",
    "TokenizerWarning",
    "Turn",
    "TurnSpan",
    "WordSpan",
    "__version__",
    "blocks",
    "by_heading",
    "by_layout",
    "by_paragraph",
    "by_part",
    "by_record",
    "by_similarity",
    "by_structure",
    "by_text",
    "by_turn",
    "cap",
    "chars",
    "chunk",
    "chunk_text",
    "chunk_turns",
    "clip_report",
    "explain",
    "find_documents",
    "fixed_with_overlap",
    "for_answers",
    "for_search",
    "highlight",
    "iter_chunks",
    "lexical_spans",
    "lexical_tokens",
    "load",
    "snippet_around",
    "tokens",
    "utf8_bytes",
    "whole_document",
    "within",
    "words",
]

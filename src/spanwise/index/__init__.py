"""An index of documents in one file: brought up to date, searched, checked. Needs ``index``."""

from spanwise.index.hits import Candidate, Hit, Hits, Standing
from spanwise.index.index import Index
from spanwise.index.postgres_store import PostgresStore
from spanwise.index.qdrant_store import QdrantStore
from spanwise.index.reports import Difference, Failure, IndexReport, Progress, VerifyReport
from spanwise.index.rows import StoredDocument
from spanwise.index.sqlite_store import SqliteStore
from spanwise.index.store import Store

__all__ = [
    "Candidate",
    "Difference",
    "Failure",
    "Hit",
    "Hits",
    "Index",
    "IndexReport",
    "PostgresStore",
    "Progress",
    "QdrantStore",
    "SqliteStore",
    "Standing",
    "Store",
    "StoredDocument",
    "VerifyReport",
]

"""Documents from files: `load` reads one, `find_documents` says which a folder holds."""

from spanwise.loaders.files import find_documents, load

__all__ = ["find_documents", "load"]

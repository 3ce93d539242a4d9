"""Embedders: the protocol and one file an adapter, each imported where it is used."""

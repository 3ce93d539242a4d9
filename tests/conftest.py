"""Hypothesis profiles: seeded and short by default, long with SPANWISE_DEEP=1."""

from __future__ import annotations

import gc
import os

from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

settings.register_profile(
    "short", max_examples=150, deadline=None, derandomize=True, suppress_health_check=_QUIET
)
settings.register_profile("deep", max_examples=50_000, deadline=None, suppress_health_check=_QUIET)
settings.register_profile(
    "middle",
    max_examples=int(os.environ.get("SPANWISE_EXAMPLES", "2000")),
    deadline=None,
    suppress_health_check=_QUIET,
)
settings.load_profile(
    "middle"
    if os.environ.get("SPANWISE_EXAMPLES")
    else "deep"
    if os.environ.get("SPANWISE_DEEP")
    else "short"
)


def pytest_collection_finish() -> None:
    """Keep the collector from walking the suite's own objects while growth is timed."""
    gc.collect()
    gc.freeze()

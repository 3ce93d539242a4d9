"""Where a text may be cut, and which cuts to keep: positions only, no documents."""

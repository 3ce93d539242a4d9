"""Plain models of the reference systems, in code points, one module a system."""

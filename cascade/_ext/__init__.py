"""Compiled kernels land here; their sources are in cython_ext/, their signatures in the .pyi files."""

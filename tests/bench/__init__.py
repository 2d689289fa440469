"""Benchmarks: `python -m tests.bench` runs all; one file a topic."""

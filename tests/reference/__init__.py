"""Slow, literal NumPy twins of the trainer, written from the papers alone."""

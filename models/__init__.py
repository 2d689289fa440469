"""Shipped models."""

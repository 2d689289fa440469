"""Models for devices and for people: C, an Arduino library, JSON."""

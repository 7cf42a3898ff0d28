"""Weir for Python."""

"""Sinks that export: metrics and decision log events, from the catalogue."""

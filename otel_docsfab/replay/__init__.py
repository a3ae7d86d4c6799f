"""Recorded spans and sessions in, what would have been decided out."""

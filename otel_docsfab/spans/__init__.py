"""Spans in: dialects say what one span means, the tracker whose it is, the processor watches them live."""

"""Records that last: the run index, its queries, and why runs failed."""

from otel_docsfab.runs.index import RunIndex
from otel_docsfab.runs.retention import Keep

__all__ = ["Keep", "RunIndex"]

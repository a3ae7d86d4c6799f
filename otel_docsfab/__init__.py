"""otel_docsfab."""

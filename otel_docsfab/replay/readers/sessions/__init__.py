"""Readers of session files that agent runtimes keep anyway: tried without any tracing."""

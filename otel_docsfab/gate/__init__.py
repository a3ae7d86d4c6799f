"""Enforcement: gates around tools, and steps with their retry."""

from otel_docsfab.gate.gate import gated
from otel_docsfab.gate.runner import StepResult, arun_step, run_step

__all__ = ["StepResult", "arun_step", "gated", "run_step"]

"""Hooks into agent frameworks, one module each; they only translate to the supervisor."""

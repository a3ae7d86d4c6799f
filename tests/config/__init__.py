"""What tests of this room share."""

from otel_docsfab.errors import ConfigError


def attempt(call, *args, **kwargs):
    """The result, or the error that a wrong setting raises; every other exception is a fault and goes through."""
    try:
        return call(*args, **kwargs), None
    except ConfigError as error:
        return None, error

"""Kills writers in the middle of writing; prints what their flushes had promised. Run as a program of its own.

A child is forked for each round, so that nothing is imported anew: it takes records, flushes now and then, tells
through a pipe up to which number everything is safe, and is killed without warning.
"""

import contextlib
import os
import random
import signal
import sys
from pathlib import Path

from otel_docsfab.runs import RunIndex
from tests.runs.records import record

ROUND = 1_000


def write(path, first, pipe):
    """In the child: until it is killed."""
    index = RunIndex(path)
    number = first
    while True:
        for _ in range(random.randrange(1, 8)):
            index.closed(record(number, step_id=f"step-{number}"))
            number += 1
        if random.random() < 0.7 and index.flush(60):
            os.write(pipe, number.to_bytes(8))


def main(path, rounds):
    for number in range(rounds):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            random.seed(number)
            with contextlib.suppress(BaseException):
                write(Path(path), number * ROUND, writer)
            os._exit(1)
        os.close(writer)
        promised = number * ROUND
        for _ in range(number % 4):
            promised = int.from_bytes(os.read(reader, 8))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while more := os.read(reader, 8):
            promised = int.from_bytes(more)
        os.close(reader)
        sys.stdout.write(f"{number * ROUND} {promised}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

"""Draws the README's picture from a real run of the demo: ``python docs/picture.py [--check]``."""

import io
import re
import sys
import tempfile
from pathlib import Path

from opentelemetry.sdk.trace import TracerProvider
from rich.console import Console
from rich.terminal_theme import MONOKAI

from otel_docsfab.cli.demo_run import DemoAgent
from otel_docsfab.cli.demo_story import SCENES, Tools
from otel_docsfab.cli.demo_view import DemoView
from otel_docsfab.spans.processor import ReadLoopSpanProcessor
from otel_docsfab.supervisor import Supervisor

PICTURE = Path(__file__).with_name("demo.svg")
SHOWN = 34
"""Lines of the second scene that the picture shows, from its end."""


def draw() -> str:
    """The picture, the same for every run."""
    lines = run_demo()
    console = Console(record=True, width=118, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in lines:
        console.print(line, soft_wrap=True, no_wrap=True, overflow="ellipsis", crop=True)
    svg = console.export_svg(title="otel-docsfab demo", theme=MONOKAI, unique_id="demo")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # no address is asked for a font
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def run_demo() -> list[object]:
    """What the retry of the demo's second scene prints, as rich renderables."""
    shown: list[object] = []

    class Recorder(Console):
        """A terminal that keeps what is printed on it."""

        def print(self, *objects: object, **_: object) -> None:
            shown.extend(objects)

    view = DemoView(Recorder(force_terminal=True, width=118, file=io.StringIO()), enforced=True)
    supervisor = Supervisor(sinks=[view])
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(ReadLoopSpanProcessor(supervisor))
    with tempfile.TemporaryDirectory() as folder:
        agent = DemoAgent(provider.get_tracer("otel_docsfab.demo"), Tools(Path(folder)), view.tell)
        for number, scene in enumerate(SCENES, 1):
            view.scene(number, f"{scene.step}, {scene.title}")
            agent.enforced(supervisor, scene, "run-demo")
    provider.shutdown()
    return shown[-SHOWN:]


def main(arguments: list[str]) -> int:
    """Write the picture, or say whether it is as drawn."""
    drawn = draw()
    if "--check" not in arguments:
        PICTURE.write_text(drawn)
        return 0
    if PICTURE.read_text() == drawn:
        return 0
    sys.stderr.write("docs/demo.svg is not as drawn; run: python docs/picture.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

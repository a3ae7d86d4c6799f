"""The boards as Grafana gets them: layout, variables, links."""

import itertools
import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from otel_docsfab.catalogue import SPAN_ATTRIBUTES
from otel_docsfab.mixin.boards import boards
from otel_docsfab.mixin.panels import VARIABLES
from tests.mixin.vocabulary import strangers

DASHBOARDS = Path(__file__).parents[2] / "dashboards"
FILES = ["read-loops.json", "deadlines-and-answers.json", "lease-and-progress.json", "supervisor-health.json"]


@pytest.fixture(params=FILES)
def board(request):
    return json.loads((DASHBOARDS / "json" / request.param).read_text())


def cells(panel):
    place = panel["gridPos"]
    columns = range(place["x"], place["x"] + place["w"])
    return set(itertools.product(columns, range(place["y"], place["y"] + place["h"])))


def test_the_files_are_the_boards():
    assert [board.file_name for board in boards()] == FILES


def test_panels_fill_the_grid_without_overlap(board):
    taken = [cell for panel in board["panels"] for cell in cells(panel)]
    assert len(taken) == len(set(taken))
    assert {x for x, _ in taken} == set(range(24))
    assert len(taken) == 24 * (1 + max(y for _, y in taken)), "a hole"


def test_panel_ids_are_unique_and_titles_tell_them_apart(board):
    ids = [panel["id"] for panel in board["panels"]]
    titles = [panel["title"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)
    assert len(set(titles)) == len(titles)


def test_every_panel_says_what_it_shows(board):
    for panel in board["panels"]:
        if panel["type"] != "row":
            assert panel["description"].endswith("."), panel["title"]
            assert panel["datasource"]["uid"] == "${datasource}"
            assert [target["refId"] for target in panel["targets"]] == list("ABCD")[: len(panel["targets"])]


def test_queries_name_only_what_is_catalogued(board):
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            assert not strangers(target["expr"]), panel["title"]
    for annotation in board["annotations"]["list"]:
        assert not strangers(annotation["expr"])


def test_variables_choose_data_source_job_step_tool_agent_and_enforcement(board):
    variables = {variable["name"]: variable for variable in board["templating"]["list"]}
    assert list(variables) == ["datasource", "traces", *VARIABLES]
    for name in VARIABLES:
        assert variables[name]["multi"]
        assert variables[name]["allValue"] == ".*"
        if variables[name]["type"] == "query":
            inside = variables[name]["query"]["query"].removeprefix("label_values(").removesuffix(")")
            series, label = inside.rsplit(", ", 1)
            assert label == name
            assert not strangers(f"sum by ({label}) ({series})")


def test_a_filter_reaches_every_series_that_has_its_label():
    for board in boards():
        for panel in board.panels:
            for target in panel.targets:
                text = target.query.text
                assert 'job=~"$job"' in text, (panel.title, text)


def test_boards_lead_to_one_another(board):
    [link] = board["links"]
    assert (link["type"], link["tags"], link["keepTime"], link["includeVars"]) == (
        "dashboards",
        ["docsfab"],
        True,
        True,
    )
    assert board["tags"] == ["docsfab"]


def test_links_to_traces_are_searches_for_catalogued_attributes():
    links = [
        link
        for name in FILES
        for panel in json.loads((DASHBOARDS / "json" / name).read_text())["panels"]
        for link in panel.get("fieldConfig", {}).get("defaults", {}).get("links", [])
    ]
    assert links
    for link in links:
        panes = json.loads(parse_qs(urlsplit(link["url"]).query)["panes"][0])["traces"]
        assert panes["datasource"] == "${traces}"
        assert panes["range"] == {"from": "${__from}", "to": "${__to}"}
        [query] = panes["queries"]
        attribute = query["query"].removeprefix("{ span.").split(" ")[0]
        assert attribute in {known.name for known in SPAN_ATTRIBUTES}


def test_rare_facts_carry_exemplars_to_their_traces():
    targets = [
        target
        for name in FILES
        for panel in json.loads((DASHBOARDS / "json" / name).read_text())["panels"]
        for target in panel.get("targets", [])
        if target["exemplar"]
    ]
    read = " ".join(target["expr"] for target in targets)
    for metric in ("read_loop_stops", "conclude_now_asks", "attempt_deadlines", "retries", "attempt_duration"):
        assert f"docsfab_{metric}" in read


def test_the_first_board_answers_the_five_questions_in_its_first_line_and_rows():
    first = json.loads((DASHBOARDS / "json" / FILES[0]).read_text())
    tiles = [panel["title"] for panel in first["panels"] if panel["type"] == "stat" and panel["gridPos"]["y"] == 1]
    assert tiles == [
        "Stopped, last 15m",
        "Looping unstopped, last 15m",
        "Stopped share, last 1h",
        "Calls after a stop",
        "Context withheld",
        "Retries that answered",
    ]
    rows = [panel["title"] for panel in first["panels"] if panel["type"] == "row"]
    assert rows == ["Now", "Where", "What they read", "What follows", "What changed"]

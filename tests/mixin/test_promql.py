"""A query cannot name what the catalogue lacks."""

import pytest

from otel_docsfab.catalogue import metrics as m
from otel_docsfab.mixin.alerts import alerts
from otel_docsfab.mixin.boards import boards
from otel_docsfab.mixin.config import DEFAULTS
from otel_docsfab.mixin.panels import trace_condition
from otel_docsfab.mixin.promql import (
    CatalogueError,
    added,
    minus,
    or_zero,
    quantile,
    recorded,
    select,
    share,
    sum_by,
)
from otel_docsfab.mixin.rules import Rules
from tests.mixin.vocabulary import LABELS, strangers


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: select(m.RETRIES, {"step": "review"}),
        lambda: select(m.RETRIES, {"outcome": "won"}),
        lambda: select(m.RETRIES, {"outcome": ("answered", "won")}),
        lambda: select(m.RETRIES, part="bucket"),
        lambda: select(m.ATTEMPT_DURATION),
        lambda: select(m.ATTEMPT_DURATION, part="average"),
        lambda: select(m.ATTEMPT_LONGEST_STRETCH, part="bucket", at_most=50),
        lambda: sum_by(select(m.RETRIES), "step"),
        lambda: added(select(m.RETRIES), "1h", "agent"),
        lambda: quantile(0.5, select(m.ATTEMPT_DURATION, part="bucket"), "1h", "agent"),
        lambda: recorded(Rules().stop_share, {"agent": "editor"}),
        lambda: share(added(select(m.RETRIES), "1h", "job"), added(select(m.RETRIES), "1h")),
        lambda: minus(added(select(m.RETRIES), "1h", "job"), added(select(m.RETRIES), "1h")),
        lambda: or_zero(added(select(m.RETRIES), "1h", "job")),
    ],
)
def test_what_the_catalogue_lacks_is_refused(wrong):
    with pytest.raises(CatalogueError):
        wrong()


def test_a_trace_link_names_a_span_attribute_of_the_catalogue():
    assert trace_condition("docsfab.stop.code") == "span.docsfab.stop.code != nil"
    with pytest.raises(KeyError):
        trace_condition("docsfab.stop.reason")


def test_new_series_are_asked_for_beside_the_increase():
    series = select(m.SUPERVISOR_ERRORS, {"site": "sink"})
    name = 'docsfab_supervisor_errors_total{site="sink"}'
    assert added(series, "15m", "job").text == (
        f"sum by (job) (({name} unless last_over_time({name}[1h] offset 15m)) or increase({name}[15m]))"
    )


def test_a_bucket_is_named_by_a_bound_that_every_exporter_writes_alike():
    query = select(m.ATTEMPT_LONGEST_STRETCH, part="bucket", at_most=50.5)
    assert query.text == 'docsfab_attempt_longest_stretch_bucket{le="50.5"}'


def test_every_query_reads_only_what_is_catalogued_or_recorded():
    queries = [
        *(rule.query for rule in Rules().all()),
        *(alert.query for alert in alerts(DEFAULTS)),
        *(target.query for board in boards() for panel in board.panels for target in panel.targets),
    ]
    assert len(queries) > 60
    for query in queries:
        assert query.reads <= set(LABELS), query.text
        assert not strangers(query.text), query.text


def test_every_metric_is_on_a_board():
    shown = {
        name for board in boards() for panel in board.panels for target in panel.targets for name in target.query.reads
    }
    assert [metric.name for metric in m.METRICS if not shown & set(metric.series_names)] == []


@pytest.mark.parametrize(
    ("expression", "stranger"),
    [
        ("rate(docsfab_read_result_total[5m])", "metric docsfab_read_result_total"),
        ('sum(docsfab_retries_total{step="a"})', "label step of docsfab_retries_total"),
        ("sum by (agent) (docsfab_retries_total)", "label agent"),
        ('docsfab_attempt_longest_stretch_bucket{le="50"}', "bound 50 of docsfab_attempt_longest_stretch_bucket"),
    ],
)
def test_the_checker_of_hand_written_queries_sees_strangers(expression, stranger):
    assert strangers(expression) == [stranger]

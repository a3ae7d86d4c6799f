"""Boards as Grafana's JSON, by way of the Grafana foundation SDK."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import quote

from grafana_foundation_sdk.builders import bargauge, common, heatmap, prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as common_models
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from otel_docsfab.catalogue import metrics as m
from otel_docsfab.mixin.panels import VARIABLES, Board, Panel, View

TAG: Final = "docsfab"
_PROMETHEUS: Final = model.DataSourceRef(type_val="prometheus", uid="${datasource}")
_VARIABLE_SOURCE: Final = {
    "job": m.LIVE_ATTEMPTS,
    "step": m.READ_LOOP_STOPS,
    "tool": m.READ_RESULTS,
    "agent": m.READ_LOOP_STOPS,
}
"""Whose series a variable takes its values from."""
_INSTANT: Final = (View.STAT, View.RANKING, View.TABLE)


def to_json(board: Board) -> str:
    """The board's file."""
    document = json.loads(json.dumps(_dashboard(board), cls=JSONEncoder))
    for variable in document["templating"]["list"]:
        for key in ("auto", "auto_min", "auto_count"):  # of interval variables only; the SDK writes them into every one
            variable.pop(key, None)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _dashboard(board: Board) -> model.Dashboard:
    result = (
        build.Dashboard(board.title)
        .uid(board.uid)
        .description(board.description)
        .tags([TAG])
        .editable()
        .tooltip(model.DashboardCursorSync.CROSSHAIR)
        .time("now-6h", "now")
        .timezone("browser")
        .refresh("1m")
        .link(
            build.DashboardLink("Read-loop boards")
            .type(model.DashboardLinkType.DASHBOARDS)
            .tags([TAG])
            .include_vars(include_vars=True)
            .keep_time(keep_time=True)
        )
        .annotation(
            build.AnnotationQuery()
            .name("Alerts")
            .datasource(_PROMETHEUS)
            .enable(enable=True)
            .icon_color("red")
            .expr('ALERTS{alertname=~"Docsfab.+",alertstate="firing",job=~"$job"}')
        )
        .variables(_variables())
    )
    y = number = 0
    for row in board.rows:
        result = result.with_row(
            build.Row(row.title).id(number := number + 1).grid_pos(model.GridPos(h=1, w=24, x=0, y=y))
        )
        x, y = 0, y + 1
        for panel in row.panels:
            if x + panel.width > 24:  # noqa: PLR2004 - Grafana's grid
                x, y = 0, y + row.height
            place = model.GridPos(h=row.height, w=panel.width, x=x, y=y)
            result = result.with_panel(_panel(panel).id(number := number + 1).grid_pos(place))
            x += panel.width
        y += row.height
    return result.build()


def _variables() -> list[Any]:
    every = model.VariableOption(selected=True, text="All", value="$__all")
    result: list[Any] = [
        build.DatasourceVariable("datasource").label("Metrics").type("prometheus"),
        build.DatasourceVariable("traces").label("Traces").type("tempo"),
    ]
    for name in VARIABLES:
        if name == "enforced":
            custom = build.CustomVariable(name).label("Enforced").values("true,false")
            result.append(custom.multi(multi=True).include_all(include_all=True).all_value(".*").current(every))
            continue
        series = _VARIABLE_SOURCE[name].prometheus_name
        within = "" if name == "job" else '{job=~"$job"}'
        query: dict[str, object] = {"query": f"label_values({series}{within}, {name})", "refId": f"Variable-{name}"}
        result.append(
            build.QueryVariable(name)
            .label(name.capitalize())
            .datasource(_PROMETHEUS)
            .query(query)
            .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
            .sort(model.VariableSort.ALPHABETICAL_ASC)
            .multi(multi=True)
            .include_all(include_all=True)
            .all_value(".*")
            .current(every)
        )
    return result


def _panel(panel: Panel) -> Any:
    """The SDK's builder of a panel; its classes share their methods, but no base class says so."""
    result = _BUILDERS[panel.view](panel)
    about = panel.description + (f"\n\nEmpty when {panel.empty}." if panel.empty else "")
    result = result.title(panel.title).description(about).datasource(_PROMETHEUS).unit(panel.unit).interval("1m")
    for number, target in enumerate(panel.targets):
        query = prometheus.Dataquery().expr(target.query.text).ref_id(chr(ord("A") + number))
        query = query.legend_format(target.legend or "__auto").exemplar(exemplar=target.exemplars)
        query = query.instant() if panel.view in _INSTANT else query.range()
        if panel.view is View.TABLE:
            query = query.format(PromQueryFormat.TABLE)
        elif panel.view is View.HEATMAP:
            query = query.format(PromQueryFormat.HEATMAP)
        result = result.with_target(query)
    if panel.view is not View.HEATMAP:
        result = result.thresholds(_thresholds(panel))
    for name, colour in panel.colour_of.items():
        fixed = {"mode": "fixed", "fixedColor": colour}
        result = result.override_by_name(name, [model.DynamicConfigValue("color", fixed)])
    return result.data_links([_traces(panel.traces)]) if panel.traces else result


def _thresholds(panel: Panel) -> build.ThresholdsConfig:
    base = "green" if panel.colours else "blue"
    steps = [model.Threshold(value=None, color=base)]
    steps += [model.Threshold(value=value, color=colour) for value, colour in panel.colours]
    return build.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(steps)


def _traces(condition: str) -> build.DashboardLink:
    """A link from a point to the traces of its time, in Grafana's Explore."""
    query = {"refId": "A", "queryType": "traceql", "query": f"{{ {condition} }}", "limit": 20}
    pane = {
        "datasource": "TRACES",
        "queries": [query | {"datasource": {"type": "tempo", "uid": "TRACES"}}],
        "range": {"from": "FROM", "to": "TO"},
    }
    encoded = quote(json.dumps({"traces": pane}, separators=(",", ":")))
    for name, variable in (("TRACES", "${traces}"), ("FROM", "${__from}"), ("TO", "${__to}")):
        encoded = encoded.replace(name, variable)
    return (
        build.DashboardLink("Traces")
        .url(f"/explore?schemaVersion=1&orgId=1&panes={encoded}")
        .target_blank(target_blank=True)
    )


def _stat(panel: Panel) -> Any:
    return (
        stat.Panel()
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        .color_mode(
            common_models.BigValueColorMode.BACKGROUND if panel.colours else common_models.BigValueColorMode.VALUE
        )
        .graph_mode(common_models.BigValueGraphMode.NONE)
        .no_value("-")
    )


def _graph(panel: Panel) -> Any:
    stacked = panel.view is not View.LINES
    mode = common_models.StackingMode.PERCENT if panel.view is View.PERCENT else common_models.StackingMode.NORMAL
    bars = panel.view is View.BARS
    result = (
        timeseries.Panel()
        .draw_style(common_models.GraphDrawStyle.BARS if bars else common_models.GraphDrawStyle.LINE)
        .fill_opacity(80 if bars else 25 if stacked else 0)
        .line_width(0 if bars else 1)
        .min(0)
        .legend(
            common.VizLegendOptions()
            .show_legend(show_legend=True)
            .display_mode(common_models.LegendDisplayMode.LIST)
            .placement(common_models.LegendPlacement.BOTTOM)
        )
        .tooltip(
            common.VizTooltipOptions()
            .mode(common_models.TooltipDisplayMode.MULTI)
            .sort(common_models.SortOrder.DESCENDING)
        )
    )
    return result.stacking(common.StackingConfig().mode(mode).group("A")) if stacked else result


def _ranking(_: Panel) -> Any:
    return (
        bargauge.Panel()
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        .orientation(common_models.VizOrientation.HORIZONTAL)
        .display_mode(common_models.BarGaugeDisplayMode.BASIC)
        .no_value("-")
        .min(0)
    )


def _table(panel: Panel) -> Any:
    result = table.Panel().no_value("-")
    names = {f"Value #{chr(ord('A') + number)}": target.legend for number, target in enumerate(panel.targets)}
    if len(panel.targets) == 1:
        names = {"Value": panel.targets[0].legend}
    else:
        result = result.with_transformation(model.DataTransformerConfig(id_val="merge", options={}))
    options = {"excludeByName": {"Time": True}, "renameByName": names, "indexByName": {}}
    return result.with_transformation(model.DataTransformerConfig(id_val="organize", options=options)).sort_by(
        [common.TableSortByFieldState().display_name(panel.targets[0].legend).desc(desc=True)]
    )


def _heatmap(_: Panel) -> Any:
    return (
        heatmap.Panel()
        .calculate(calculate=False)
        .color(heatmap.HeatmapColorOptions().mode(HeatmapColorMode.SCHEME).scheme("Blues").steps(32).exponent(0.5))
        .y_axis(heatmap.YAxisConfig().unit("short"))
    )


_BUILDERS: Final = {
    View.STAT: _stat,
    View.LINES: _graph,
    View.BARS: _graph,
    View.AREA: _graph,
    View.PERCENT: _graph,
    View.RANKING: _ranking,
    View.TABLE: _table,
    View.HEATMAP: _heatmap,
}

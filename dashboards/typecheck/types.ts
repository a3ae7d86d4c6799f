// Grafana's own types, as JSON has them: an enum is one of its values. Panel options are those of the panel's plugin.
import type * as grafana from '@grafana/schema';
import type * as barGauge from '@grafana/schema/dist/esm/raw/composable/bargauge/panelcfg/x/BarGaugePanelCfg_types.gen.d.ts';
import type * as heatmap from '@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen.d.ts';
import type * as stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen.d.ts';
import type * as table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen.d.ts';
import type * as timeSeries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen.d.ts';

type Json<T> = T extends string
  ? `${T}`
  : T extends number | boolean | null | undefined
    ? T
    : T extends Array<infer Item>
      ? Array<Json<Item>>
      : T extends object
        ? { [Key in keyof T]: Json<T[Key]> }
        : T;

interface Target {
  refId: string;
  expr: string;
  instant: boolean;
  range: boolean;
  exemplar: boolean;
  legendFormat: string;
  format?: 'time_series' | 'table' | 'heatmap';
}

type FieldConfig<Custom> = Omit<grafana.FieldConfigSource, 'defaults'> & {
  defaults: Omit<grafana.FieldConfig, 'custom'> & { custom?: Partial<Custom> };
};

type PanelOf<Type extends string, Options, Custom> = Omit<grafana.Panel, 'type' | 'options' | 'targets' | 'fieldConfig'> & {
  type: Type;
  options?: Partial<Options>;
  targets: Target[];
  fieldConfig?: FieldConfig<Custom>;
};

type Panel =
  | PanelOf<'stat', stat.Options, never>
  | PanelOf<'timeseries', timeSeries.Options, timeSeries.FieldConfig>
  | PanelOf<'bargauge', barGauge.Options, never>
  | PanelOf<'table', table.Options, table.FieldConfig>
  | PanelOf<'heatmap', heatmap.Options, heatmap.FieldConfig>;

// `expr` is the Prometheus data source's own field, as in `Target`.
type Annotations = { list: Array<grafana.AnnotationQuery & { expr: string }> };

export type Board = Json<
  Omit<grafana.Dashboard, 'panels' | 'annotations'> & {
    annotations: Annotations;
    panels: Array<Panel | grafana.RowPanel>;
  }
>;

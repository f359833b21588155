// The parts of ECharts that the page draws with; imported only by a page that has a chart.
import { BarChart, LineChart } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

use([BarChart, LineChart, GridComponent, TooltipComponent, SVGRenderer]);

export { init };

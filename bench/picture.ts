// Draws the growth curves as SVG by hand: four panels, each with two plots over one another, on logarithmic axes. Colours follow the
// reader's scheme, and the two lines differ in their dashes too.

export interface Series {
  readonly name: string;
  readonly isMain: boolean;
  readonly values: readonly number[];
}

export interface Plot {
  readonly title: string;
  readonly series: readonly Series[];
}

export interface Panel {
  readonly title: string;
  /** Where the points are, from left to right; above 0. */
  readonly x: readonly number[];
  readonly plots: readonly Plot[];
}

const style = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 14px; }
  .note { fill: #59636e; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .main { stroke: #0969da; fill: #0969da; }
  .other { stroke: #59636e; fill: #59636e; }
  polyline { fill: none !important; stroke-width: 2; stroke-linejoin: round; }
  .other polyline, line.other { stroke-dasharray: 5 4; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .note { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .main { stroke: #58a6ff; fill: #58a6ff; }
    .other { stroke: #9198a1; fill: #9198a1; }
  }`;

const size = { width: 430, height: 330, left: 54, right: 14, top: 44, plot: 104, gap: 36 };
const legendHeight = 34;

/** 1,000 as 1k: as short as an axis needs. */
function short(value: number): string {
  if (value >= 1_000_000) return `${value / 1_000_000}M`;
  if (value >= 1_000) return `${value / 1_000}k`;
  return String(value);
}

/** The powers of ten within, or, where there are fewer than two, with their doubles and fives. */
function ticksOf(least: number, most: number): number[] {
  const ticks = (steps: readonly number[]): number[] => {
    const found: number[] = [];
    for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power++)
      for (const step of steps) found.push(Number((step * 10 ** power).toPrecision(3)));
    return found.filter((tick) => tick >= least && tick <= most);
  };
  const tens = ticks([1]);
  return tens.length >= 2 ? tens : ticks([1, 2, 5]);
}

const at = (value: number): string => value.toFixed(1);

/** From values to places, both ends given. */
function scale(from: readonly [number, number], to: readonly [number, number]): (value: number) => number {
  const [low, high] = from.map(Math.log10) as [number, number];
  const [start, end] = to;
  return (value) => start + ((Math.log10(value) - low) / (high - low)) * (end - start);
}

function drawPlot(plot: Plot, x: readonly number[], top: number): string {
  const values = plot.series.flatMap(({ values: some }) => some);
  const range = [Math.min(...values) / 1.25, Math.max(...values) * 1.25] as const;
  const [left, right] = [size.left, size.width - size.right];
  const toX = scale([x[0] as number, x.at(-1) as number], [left + 8, right - 8]);
  const toY = scale(range, [top + size.plot, top]);
  const parts = [`<text class="note" x="${left}" y="${top - 8}">${plot.title}</text>`];
  for (const tick of ticksOf(...range)) {
    const y = toY(tick);
    parts.push(`<line class="grid" x1="${left}" x2="${right}" y1="${at(y)}" y2="${at(y)}"/>`);
    parts.push(`<text class="note" x="${left - 6}" y="${at(y + 4)}" text-anchor="end">${short(tick)}</text>`);
  }
  for (const { isMain, values: some } of plot.series) {
    const points = some.map((value, i) => [at(toX(x[i] as number)), at(toY(value))] as const);
    const dots = points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="2.6"/>`).join("");
    const line = `<polyline points="${points.map((point) => point.join(",")).join(" ")}"/>`;
    parts.push(`<g class="${isMain ? "main" : "other"}">${line}${dots}</g>`);
  }
  return parts.join("\n");
}

function drawPanel({ title, x, plots }: Panel): string {
  const toX = scale([x[0] as number, x.at(-1) as number], [size.left + 8, size.width - size.right - 8]);
  const bottom = size.top + plots.length * size.plot + (plots.length - 1) * size.gap;
  // Labels that would touch are left out; the first and the last stay.
  let last = Number.NEGATIVE_INFINITY;
  const labels = x.map((value, i) => {
    const place = toX(value);
    const isEnd = i === x.length - 1;
    if (place - last < 30 || (!isEnd && toX(x.at(-1) as number) - place < 30)) return "";
    last = place;
    return `<text class="note" x="${at(place)}" y="${bottom + 18}" text-anchor="middle">${short(value)}</text>`;
  });
  return [
    `<text class="title" x="${size.left}" y="16">${title}</text>`,
    ...plots.map((plot, i) => drawPlot(plot, x, size.top + i * (size.plot + size.gap))),
    ...labels,
  ].join("\n");
}

function drawLegend(series: readonly Series[]): string {
  return series
    .map(({ name, isMain }, i) => {
      const left = size.left + i * 120;
      const line = `<line class="${isMain ? "main" : "other"}" x1="${left}" x2="${left + 28}" y1="16" y2="16" stroke-width="2"/>`;
      return `${line}<text x="${left + 36}" y="20">${name}</text>`;
    })
    .join("\n");
}

/** Two panels in a row. */
export function drawPanels(panels: readonly Panel[], label: string): string {
  const height = legendHeight + Math.ceil(panels.length / 2) * size.height;
  const drawn = panels.map((panel, i) => {
    const [dx, dy] = [(i % 2) * size.width, legendHeight + Math.floor(i / 2) * size.height];
    return `<g transform="translate(${dx} ${dy})">\n${drawPanel(panel)}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * size.width} ${height}" role="img" aria-label="${label}">
<style>${style}
</style>
${drawLegend(panels[0]?.plots[0]?.series ?? [])}
${drawn.join("\n")}
</svg>
`;
}

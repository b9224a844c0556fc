// The growth curves: what counts as a knee, and what is drawn.
import { expect, test } from "vitest";
import { toPoints } from "../../bench/curves-section.ts";
import { drawPanels } from "../../bench/picture.ts";

const cost = (cpuUs: number) => ({ perSecond: 1e6 / cpuUs, cpuUs });
const sides = (plenum: number, bare: number) => ({ plenum: cost(plenum), bare: cost(bare) });

test("a jump is what grows beyond bare's growth; that bare gets cheaper makes none", () => {
  const jumpsOf = (...all: ReturnType<typeof sides>[]) =>
    toPoints(
      all.map((_, i) => 10 ** i),
      all,
    ).map(({ jump }) => jump);
  expect(jumpsOf(sides(40, 30), sides(80, 30), sides(800, 300))).toEqual([1, 2, 1]);
  expect(jumpsOf(sides(40, 30), sides(40, 15))).toEqual([1, 1]);
});

test("a picture has a line for each series, each with all its points, and no place that is none", () => {
  const x = [1, 10, 100, 1_000];
  const series = (name: string, isMain: boolean, factor: number) => ({
    name,
    isMain,
    values: x.map((value) => value * factor),
  });
  const plots = ["calls per second", "CPU per call"].map((title) => ({
    title,
    series: [series("bare Node", false, 1), series("Plenum", true, 1.3)],
  }));
  const flat = { title: "flat", series: [{ name: "Plenum", isMain: true, values: [7, 7, 7, 7] }] };
  const picture = drawPanels([{ title: "Against tools", x, plots: [...plots, flat] }], "growth");
  expect(picture.match(/<polyline/g)).toHaveLength(5);
  expect(picture.match(/<circle/g)).toHaveLength(20);
  for (const text of ["Against tools", "bare Node", "Plenum", "1k", "prefers-color-scheme: dark"])
    expect(picture).toContain(text);
  expect(picture).not.toMatch(/NaN|Infinity|undefined/);
});

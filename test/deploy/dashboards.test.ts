import { globSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { createApp } from "../../src/http/index.ts";
import { METRIC_NAMES, METRICS, type MetricDefinition } from "../../src/http/telemetry/catalog.ts";
import { Agent, Runner, tool } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import { Resources } from "../support/resources.ts";
import { readDocuments } from "./manifests.ts";

/** An expression of Prometheus, where it stands, and the labels that its legend shows. */
interface Used {
  readonly where: string;
  readonly expression: string;
  readonly shown: readonly string[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly summary?: string };
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const rules = globSync("deploy/alerts/*.yaml", { cwd: ROOT }).flatMap((file) =>
  (readDocuments(file) as readonly { readonly groups: readonly { readonly rules: readonly Rule[] }[] }[])
    .flatMap(({ groups }) => groups)
    .flatMap((group) => group.rules),
);
const boards = globSync("deploy/grafana/*.json", { cwd: ROOT }).map(
  (file) => JSON.parse(readFileSync(`${ROOT}/${file}`, "utf8")) as { readonly panels: readonly Panel[] },
);
const panels = boards.flatMap((board) => board.panels).filter(({ type }) => type !== "row");

const ALL: readonly Used[] = [
  ...rules.map(({ alert, expr }) => ({ where: alert, expression: expr, shown: [] })),
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      where: title,
      expression: expr,
      shown: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label),
    })),
  ),
];

/** Prometheus itself adds these to whatever it scrapes. */
const OF_THE_TARGET = ["instance", "job"];
const METRIC = /(countersign_[a-z_]+)(?:\{([^}]*)\})?/g;

/** The metrics of an expression, with the labels that it selects by. */
function selectorsIn(
  expression: string,
): readonly { readonly name: string; readonly labels: readonly string[] }[] {
  return [...expression.matchAll(METRIC)].map(([, name = "", matchers = ""]) => ({
    name,
    labels: [...matchers.matchAll(/(\w+) *(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
  }));
}

function groupedIn(expression: string): readonly string[] {
  return [...expression.matchAll(/\b(?:by|without) *\(([^)]*)\)/g)].flatMap(([, list = ""]) =>
    list.split(",").map((label) => label.trim()),
  );
}

function definitionOf(name: string): MetricDefinition | undefined {
  const isPartOf = ({ name: whole, kind }: MetricDefinition): boolean =>
    whole === name || (kind === "histogram" && name === `${whole}_bucket`);
  return METRIC_NAMES.map((key) => METRICS[key]).find(isPartOf);
}

const resources = new Resources();
let exported = "";

beforeAll(async () => {
  const pay = tool({
    name: "pay",
    description: "Pays.",
    requireConfirmation: true,
    execute: () => ({ paid: true }),
  });
  const model = scripted(({ contents }) =>
    contents.length > 1 ? "done" : [{ functionCall: { name: "pay", args: {} } }],
  );
  const runner = new Runner({ agent: new Agent({ name: "shop", model, tools: [pay] }), ledger: "memory:" });
  resources.add(() => runner.close());
  const app = createApp({ apps: { shop: runner } });
  const { pending } = await runner.send("pay", { user: "ana" });
  await app.fetch(new Request("http://localhost/healthz"));
  const { finished } = await runner.approve(pending[0]?.id ?? "", { by: { id: "ana" } });
  await finished;
  exported = await (await app.fetch(new Request("http://localhost/metrics"))).text();
  return () => resources.release();
}, 60_000);

/** The names of the labels of a metric's first line in what the server exports. */
function exportedLabels(name: string): readonly string[] | undefined {
  const line = exported
    .split("\n")
    .find((text) => text.startsWith(`${name}{`) || text.startsWith(`${name} `));
  return line === undefined ? undefined : [...line.matchAll(/(\w+)="/g)].map(([, label = ""]) => label);
}

test("there are alerts and a dashboard", () => {
  expect(rules.length).toBeGreaterThan(8);
  expect(panels.length).toBeGreaterThan(12);
});

describe.each(ALL)("$where: $expression", ({ expression, shown }) => {
  const selectors = selectorsIn(expression);

  test("every metric is one that the server exports", () => {
    expect(selectors.length).toBeGreaterThan(0);
    for (const { name } of selectors) {
      const definition = definitionOf(name);
      expect(definition, name).toBeDefined();
      expect(exported).toContain(`# TYPE ${definition?.name} ${definition?.kind}\n`);
    }
  });

  test("every label is one of the metric's", () => {
    const ofAll = selectors.flatMap(({ name }) => definitionOf(name)?.labels ?? []);
    const isHistogram = selectors.some(({ name }) => name.endsWith("_bucket"));
    const known = [...ofAll, ...OF_THE_TARGET, ...(isHistogram ? ["le"] : [])];
    for (const { name, labels } of selectors)
      for (const label of labels) expect(definitionOf(name)?.labels, name).toContain(label);
    for (const label of groupedIn(expression)) expect(known).toContain(label);
    // What is summed up has only the labels that it is grouped by.
    for (const label of shown) expect(groupedIn(expression)).toContain(label);
  });

  test("rates are of counters, and quantiles of histograms", () => {
    for (const [, name = ""] of expression.matchAll(/\b(?:rate|increase)\((countersign_[a-z_]+)/g))
      expect(definitionOf(name)?.kind, name).not.toBe("gauge");
    if (expression.includes("histogram_quantile")) expect(groupedIn(expression)).toContain("le");
  });
});

test("what the server exports has the labels of the catalogue", () => {
  const seen = METRIC_NAMES.flatMap((key) => {
    const { name, kind, labels } = METRICS[key];
    const found = exportedLabels(kind === "histogram" ? `${name}_bucket` : name);
    if (found === undefined) return [];
    expect(found, name).toEqual(kind === "histogram" ? [...labels, "le"] : labels);
    return [name];
  });
  expect(seen).toEqual(
    expect.arrayContaining([
      "countersign_http_requests_total",
      "countersign_confirmations_total",
      "countersign_decisions_total",
      "countersign_calls_total",
      "countersign_decision_duration_seconds",
    ]),
  );
});

test("every alert has a severity, a summary, and a line in the page on operations", () => {
  const page = readFileSync(`${ROOT}/docs/operations.md`, "utf8");
  for (const { alert, labels, annotations } of rules) {
    expect(["page", "ticket"], alert).toContain(labels?.severity);
    expect(annotations?.summary, alert).toMatch(/\.$/);
    expect(page, alert).toMatch(new RegExp(`^\\| \`${alert}\` +\\| \\S`, "m"));
  }
});

test("no two panels of a dashboard overlap", () => {
  for (const board of boards) {
    const cells = board.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  }
});

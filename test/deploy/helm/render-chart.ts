import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { command, ROOT } from "../../../scripts/command.ts";
import { ensureGoLibraries } from "../../../scripts/test-tools.ts";

const CHART = join(ROOT, "deploy", "helm", "countersign");

/** A Kubernetes object of the chart. */
export interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

/** The chart's objects with these values, by kind. Rendered by Go's own templates, as Helm does it. */
export function renderChart(values: object = {}): ReadonlyMap<string, Rendered> {
  const program = join(import.meta.dirname, "render.go");
  const { status, stdout, stderr } = command("go", ["run", program, CHART, JSON.stringify(values)], {
    env: { GO111MODULE: "off", GOPATH: ensureGoLibraries() },
  });
  if (status !== 0) throw new Error(stderr);
  const files = JSON.parse(stdout) as Readonly<Record<string, string>>;
  const objects = Object.entries(files)
    .filter(([file, text]) => file.endsWith(".yaml") && text.trim() !== "")
    .map(([, text]) => parse(text, { strict: true }) as Rendered);
  return new Map(objects.map((object) => [object.kind, object]));
}

/** A file of the chart, as YAML or JSON has it. */
export function readChartFile(name: string): unknown {
  return parse(readFileSync(join(CHART, name), "utf8"), { strict: true });
}

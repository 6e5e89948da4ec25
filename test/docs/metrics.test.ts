import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ROOT } from "../../scripts/command.ts";
import { METRIC_NAMES, METRICS } from "../../src/http/telemetry/catalog.ts";

test("the guide lists every metric, with its type, labels and meaning, and no other", () => {
  const page = readFileSync(`${ROOT}/docs/guides/operations-metrics.md`, "utf8");
  const [, table = ""] = /<!-- metrics -->\n([\s\S]*?)<!-- \/metrics -->/.exec(page) ?? [];
  const rows = table
    .trim()
    .split("\n")
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const expected = METRIC_NAMES.map((key) => {
    const { name, kind, labels, readFrom, help } = METRICS[key];
    const names = labels.map((label) => `\`${label}\``).join(", ");
    return [`\`${name}\``, kind, names, readFrom === "ledger" ? "ledger" : "process", help];
  });
  expect(rows).toEqual(expected);
});

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../scripts/command.ts";
import type { Trial } from "./measure.ts";

/** How often the tool ran. */
export type Runs = { readonly [trial in Trial]: number };

/** A framework in the table: without its own approval there is nothing to compare with. */
export interface Row {
  readonly name: string;
  readonly alone?: Runs;
  readonly gated: Runs;
}

const PAGE = join(ROOT, "docs", "adapters.md");
const MARKED = /(<!-- table -->\n)(?<table>[\s\S]*?)(<!-- \/table -->)/;
const HEAD = ["adapter", "", "sent twice", "three processes at once", "`kill -9` inside the tool", "forged"];

/** What each row must say: as the contract suite asserts. */
export const GATED: Runs = { twice: 1, processes: 1, killed: 1, forged: 0 };

export function readTable(): string {
  return MARKED.exec(readFileSync(PAGE, "utf8"))?.groups?.["table"] ?? "";
}

export function writeTable(rows: readonly Row[]): void {
  const text = readFileSync(PAGE, "utf8");
  writeFileSync(
    PAGE,
    text.replace(MARKED, (_whole, before: string) => `${before}${tableOf(rows)}<!-- /table -->`),
  );
}

export function tableOf(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ name, alone, gated }) => [
    [`\`countersign/${name}\``, "alone", ...cellsOf(alone)],
    ["", "**with Countersign**", ...cellsOf(gated)],
  ]);
  const rule = HEAD.map((_head, place) => (place < 2 ? "---" : "---:"));
  return [HEAD, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

function cellsOf(runs: Runs | undefined): readonly string[] {
  const { twice, processes, killed, forged } = runs ?? {};
  return [twice, processes, killed, forged].map((count) => (count === undefined ? "–" : String(count)));
}

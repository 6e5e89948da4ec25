import { availableParallelism, loadavg, totalmem } from "node:os";

/** `not shown`: the number is good enough, but the machine was too busy for it to prove anything. */
export type Verdict = "met" | "missed" | "not shown";

interface Goal {
  readonly claim: string;
  readonly found: string;
  readonly verdict: Verdict;
}

/** Collects what was measured and says it as Markdown: ratios and goals first, a table for each workload after. */
export class Report {
  readonly #progress: (line: string) => void;
  readonly #goals: Goal[] = [];
  readonly #tables: string[] = [];

  constructor(progress: (line: string) => void) {
    this.#progress = progress;
  }

  progress(line: string): void {
    this.#progress(line);
  }

  goal(claim: string, found: string, verdict: Verdict): void {
    this.#goals.push({ claim, found, verdict });
  }

  /** All columns but those of names are numbers, and stand to the right. */
  table(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): void {
    const isNumber = columns.map((_, place) => rows.every((row) => /^[\d.,–]+$|^no /.test(row[place] ?? "")));
    const lines = [columns, isNumber.map((number) => (number ? "---:" : "---")), ...rows];
    this.#tables.push(`## ${title}\n\n${lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`);
  }

  /** Were all goals met? */
  get met(): boolean {
    return this.#goals.every(({ verdict }) => verdict === "met");
  }

  toMarkdown(conditions: string): string {
    const goals = this.#goals.map(({ claim, found, verdict }) => {
      return `| ${claim} | ${found} | ${verdict === "met" ? verdict : `**${verdict}**`} |`;
    });
    const head = ["| goal | found | |", "|---|---:|---|", ...goals].join("\n");
    return `# Benchmark results\n\n${conditions}\n\n## Goals\n\n${head}\n\n${this.#tables.join("\n")}`;
  }
}

/** The machine, without saying which one it is. */
export function describeMachine(): string {
  const gib = Math.round(totalmem() / 2 ** 30);
  const { node, sqlite } = process.versions;
  return `${availableParallelism()} cores, ${gib} GiB, Node ${node}, SQLite ${sqlite}, ${process.platform}.`;
}

/** How busy the machine was with other things too, over the last minute. */
export function describeLoad(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

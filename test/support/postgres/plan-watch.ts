import pg from "pg";
import { execute } from "./server.ts";

/** One step of a plan that was carried out. */
export interface Step {
  /** As PostgreSQL calls it: `Seq Scan`, `Index Scan`, … */
  readonly kind: string;
  readonly table: string | undefined;
  /** Rows that it gave or looked at in vain, in all its loops. */
  readonly rows: number;
}

/** A statement that was carried out, one inside a function too. */
export interface Plan {
  readonly text: string;
  readonly steps: readonly Step[];
  /** Pages that it looked at. */
  readonly pages: number;
}

const SETTINGS = {
  session_preload_libraries: "auto_explain",
  "auto_explain.log_min_duration": "0",
  "auto_explain.log_analyze": "on",
  "auto_explain.log_timing": "off",
  "auto_explain.log_buffers": "on",
  "auto_explain.log_nested_statements": "on",
  "auto_explain.log_format": "json",
  "auto_explain.log_level": "notice",
};

/** Has the server tell every new connection of this database how each statement was carried out. */
export async function explainAll(url: string): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  await execute(
    url,
    ...Object.entries(SETTINGS).map(([name, value]) => `alter database ${database} set ${name} = '${value}'`),
  );
}

/** The plans of what this process sends while the work is done, in a database where everything is explained. */
export async function plansOf(work: () => Promise<unknown>): Promise<readonly Plan[]> {
  const plans: Plan[] = [];
  const onNotice = ({ message = "" }: { readonly message?: string | undefined }): void => {
    const json = /^duration: .*? plan:\n(.*)$/s.exec(message)?.[1];
    if (json !== undefined) plans.push(toPlan(JSON.parse(json) as Explained));
  };
  const restore = listen(onNotice);
  try {
    await work();
  } finally {
    restore();
  }
  return plans;
}

/** The driver's connections are its own, so it is watched where every query passes. */
function listen(onNotice: (notice: { readonly message?: string | undefined }) => void): () => void {
  const prototype = pg.Client.prototype as { query: unknown };
  const real = prototype.query as (...args: unknown[]) => unknown;
  const heard = new Set<pg.Client>();
  prototype.query = function query(this: pg.Client, ...args: unknown[]): unknown {
    if (!heard.has(this)) this.on("notice", onNotice);
    heard.add(this);
    return Reflect.apply(real, this, args);
  };
  return () => {
    prototype.query = real;
    for (const client of heard) client.off("notice", onNotice);
  };
}

interface Explained {
  readonly "Query Text": string;
  readonly Plan: Node;
}

interface Node {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly "Shared Hit Blocks"?: number;
  readonly "Shared Read Blocks"?: number;
  readonly Plans?: readonly Node[];
}

function toPlan({ "Query Text": text, Plan }: Explained): Plan {
  return {
    text,
    steps: stepsOf(Plan),
    pages: (Plan["Shared Hit Blocks"] ?? 0) + (Plan["Shared Read Blocks"] ?? 0),
  };
}

function stepsOf(node: Node): readonly Step[] {
  const vain = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  const step = {
    kind: node["Node Type"],
    table: node["Relation Name"] ?? node["Index Name"],
    rows: (node["Actual Rows"] + vain) * node["Actual Loops"],
  };
  return [step, ...(node.Plans ?? []).flatMap(stepsOf)];
}

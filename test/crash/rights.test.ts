import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { JournalRecord } from "../../src/engine/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { isLong } from "../support/effort.ts";
import { createDatabase } from "../support/postgres/database.ts";
import { Resources } from "../support/resources.ts";
import { GRANTED, type RightsLine, type RightsOptions, type RightsStrike } from "./rights.program.ts";

const PROGRAM = new URL("./rights.program.ts", import.meta.url);
const TIMEOUT_MS = 300_000;
vi.setConfig({ maxConcurrency: 4 });

/** How often each record is there when everything is done, however often a process was killed. */
const RECORDS: { readonly [kind: string]: number } = {
  "delegation-made": 1,
  "vote-cast": 3,
  "vote-withdrawn": 1,
  "confirmation-approved": 2,
  "grant-minted": 1,
  "grant-used": GRANTED,
  "grant-revoked": 1,
  "delegation-revoked": 1,
};

const onPostgres = process.env["COUNTERSIGN_TEST_STORE"] === "postgres";
/** All of them on SQLite, and in the long suite. */
const STRUCK = Object.entries(RECORDS).filter(
  ([kind]) => !onPostgres || isLong || ["delegation-made", "vote-cast", "grant-used"].includes(kind),
);

type Struck = RightsStrike & Pick<RightsOptions, "scope">;
const SCOPES = ["session", "user"] as const;

/** For grants across sessions, only what is about grants. */
const STRIKES: readonly Struck[] = SCOPES.flatMap((scope) =>
  STRUCK.filter(([kind]) => scope === "session" || kind.startsWith("grant-")).flatMap(([kind, count]) =>
    Array.from({ length: isLong ? count : 1 }, (_, index) => index + 1).flatMap((n) => [
      { scope, kind, place: "before" as const, n },
      { scope, kind, place: "after" as const, n },
    ]),
  ),
);

/** One ledger, and the processes that work on it one after another. */
class Shop {
  readonly #resources: Resources;
  readonly #url: string;
  readonly #scope: RightsOptions["scope"];
  readonly paid: string[] = [];

  constructor(resources: Resources, { url, scope }: Pick<RightsOptions, "url" | "scope">) {
    this.#resources = resources;
    this.#url = url;
    this.#scope = scope;
  }

  /** Lets a process work until it is done, or killed. */
  async run(strike?: RightsStrike): Promise<"done" | "killed"> {
    const options: RightsOptions = {
      url: this.#url,
      scope: this.#scope,
      ...(strike === undefined ? {} : { strike }),
    };
    const child = this.#resources.child<RightsLine>(PROGRAM, { args: [JSON.stringify(options)] });
    const errors: string[] = [];
    child.onLine((line) => {
      if (line.type === "paid") this.paid.push(line.key);
      if (line.type === "error") errors.push(line.message);
    });
    const { signal } = await child.ended;
    if (errors.length > 0) throw new Error(`It failed: ${errors.join("; ")} ${child.complaints}`);
    return signal === "SIGKILL" ? "killed" : "done";
  }

  async journal(): Promise<readonly JournalRecord[]> {
    const ledger = await createLedger(this.#url);
    try {
      return await ledger.journal.records({ after: 0, limit: 1_000 });
    } finally {
      await ledger.close();
    }
  }

  async count(kind: string): Promise<number> {
    return (await this.journal()).filter((record) => record.kind === kind).length;
  }
}

describe.concurrent("a process that is killed around a commit of a delegation, a vote or a grant", () => {
  test.each(STRIKES)(
    "$place the record $n of $kind, $scope: it is there or not, and the next process does the rest once",
    async ({ scope, ...strike }) => {
      const resources = new Resources();
      try {
        const url = onPostgres
          ? await createDatabase(resources)
          : `sqlite:${join(await resources.folder(), "ledger.db")}`;
        const shop = new Shop(resources, { url, scope });
        expect(await shop.run(strike)).toBe("killed");
        const { kind, place, n } = strike;
        expect(await shop.count(kind)).toBe(place === "before" ? n - 1 : n);
        expect(await shop.run()).toBe("done");
        for (const [each, count] of Object.entries(RECORDS)) expect(await shop.count(each), each).toBe(count);
        expect(new Set(shop.paid).size, "no payment twice").toBe(shop.paid.length);
        expect(shop.paid).not.toContain(`further-${GRANTED + 1}`);
        expect(shop.paid.length).toBeGreaterThanOrEqual(GRANTED + 1);
      } finally {
        await resources.release();
      }
    },
    TIMEOUT_MS,
  );
});

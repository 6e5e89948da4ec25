import pg from "pg";
import { createIds, Engine } from "../../src/engine/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import type { ConnectionPool, Query } from "../../src/stores/postgres/connection/driver.ts";
import { Lanes } from "../../src/stores/postgres/connection/lanes.ts";
import { parseUrl } from "../../src/stores/postgres/connection/settings.ts";
import { watchQueries } from "../../test/support/postgres/watch-queries.ts";
import type { Contender, Setting } from "../contender.ts";
import { isBackground, isCommit, isSynced } from "../postgres-trace.ts";
import { AMOUNT } from "../scenario.ts";
import { ScriptedAgent } from "./engine.ts";

const RECORDED_CYCLES = 10;
const LEASE_MS = 3_600_000;
const newId = createIds();

/**
 * The statements that the store sends in a cycle, recorded once and then sent again with other ids, in their order,
 * through the same driver and as many connections, shared as the store shares them: no engine, nothing judged, hashed
 * or decoded.
 */
export const floorPostgres: Contender = {
  async open({ file: url, runBody }) {
    const recording = await record(url);
    const {
      hosts: [connection],
      pool: max,
    } = parseUrl(url);
    const settings = { ...connection, types: pg.types, max, pipeline: true };
    const pool = new pg.Pool(settings) as unknown as ConnectionPool;
    const lanes = new Lanes(pool, max);
    const send = async (queries: readonly Template[], ids: Ids): Promise<void> => {
      for (const query of queries) {
        const place = await (query.waits ? pool : lanes).connect();
        const { rows } = await place.query(withIds(query, ids) as Query);
        place.release();
        if (query.commits && rows.length !== 1) throw new Error("A commit was refused.");
      }
    };
    return {
      async pause(session) {
        const now = Date.now();
        const key = newId(now);
        const ids = { session, key, confirmation: `adk-${key}${newId(now)}` };
        await send(recording.pause, ids);
        return {
          approve: async () => {
            await send(recording.decide, ids);
            runBody({ amount: AMOUNT });
            await send(recording.resume, ids);
          },
        };
      },
      async close() {
        lanes.end();
        await pool.end();
        await recording.close();
      },
    };
  },
};

/** What is different in every cycle, each always as long; a frame's and a call's ids begin with the session's key. */
interface Ids {
  readonly session: string;
  readonly key: string;
  readonly confirmation: string;
}

// The id of a question begins with its session's key.
const SLOTS = ["session", "confirmation", "key"] as const satisfies readonly (keyof Ids)[];

/** A text with gaps for the ids: text and the name of an id in turn. */
class Gaps {
  readonly #pieces: readonly string[];

  constructor(pieces: readonly string[]) {
    this.#pieces = pieces;
  }

  fill(ids: Ids): string {
    return this.#pieces.map((piece, i) => (i % 2 === 0 ? piece : ids[piece as keyof Ids])).join("");
  }
}

/** A query whose values, or what is in the arrays among them, may have gaps. */
interface Template {
  readonly query: pg.QueryConfig;
  readonly values: readonly unknown[];
  readonly commits: boolean;
  /** Is the disk waited for? */
  readonly waits: boolean;
}

interface Recording {
  readonly pause: readonly Template[];
  readonly decide: readonly Template[];
  readonly resume: readonly Template[];
  /** Until then its owner's lease is good for whoever sends the statements again. */
  close(): Promise<void>;
}

async function record(url: string): Promise<Recording> {
  const parts: { pause: pg.QueryConfig[]; decide: pg.QueryConfig[]; resume: pg.QueryConfig[] } = {
    pause: [],
    decide: [],
    resume: [],
  };
  let into = parts.pause;
  const runBody: Setting["runBody"] = ({ amount }) => {
    into = parts.resume;
    return { ok: true, amount };
  };
  const ledger = await createLedger(url);
  const agent = new ScriptedAgent(new Engine({ ledger, hostName: "bench", leaseMs: LEASE_MS }), runBody);
  const restore = watchQueries((query) => {
    if (!isBackground(query.text)) into.push(query);
  });
  let ids: Ids | undefined;
  // The first ones register an owner and prepare statements; the last one is kept.
  for (let cycle = 0; cycle < RECORDED_CYCLES; cycle += 1) {
    for (const part of Object.values(parts)) part.length = 0;
    into = parts.pause;
    const session = `example-${String(cycle).padStart(12, "0")}`;
    const { confirmation, frame } = await agent.ask(session);
    into = parts.decide;
    await agent.approve(confirmation, frame.id);
    ids = { session, key: frame.session, confirmation };
  }
  restore();
  const toTemplates = (queries: readonly pg.QueryConfig[]): readonly Template[] =>
    queries.map((query) => toTemplate(query, ids));
  return {
    pause: toTemplates(parts.pause),
    decide: toTemplates(parts.decide),
    resume: toTemplates(parts.resume),
    close: () => agent.engine.close(),
  };
}

function toTemplate(query: pg.QueryConfig, ids: Ids | undefined): Template {
  const values = ids === undefined ? (query.values ?? []) : withGaps(query.values ?? [], ids);
  const commits = isCommit(query.text);
  return { query, values, commits, waits: commits && isSynced(query.text) };
}

function withGaps(values: readonly unknown[], ids: Ids): readonly unknown[] {
  const found = SLOTS.map((slot) => ids[slot]);
  const any = new RegExp(`(${found.join("|")})`);
  return values.map((value) => {
    if (Array.isArray(value)) return withGaps(value as readonly unknown[], ids);
    if (typeof value !== "string" || !any.test(value)) return value;
    const pieces = value.split(any);
    return new Gaps(pieces.map((piece, i) => (i % 2 === 0 ? piece : (SLOTS[found.indexOf(piece)] ?? piece))));
  });
}

function withIds({ query, values }: Template, ids: Ids): pg.QueryConfig {
  return { ...query, values: filled(values, ids) };
}

function filled(values: readonly unknown[], ids: Ids): unknown[] {
  return values.map((value) => {
    if (Array.isArray(value)) return filled(value as readonly unknown[], ids);
    return value instanceof Gaps ? value.fill(ids) : value;
  });
}

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
        if (query.commits && rows[0]?.[0] !== "ok")
          throw new Error(`A commit was answered ${String(rows[0]?.[0])}.`);
      }
    };
    return {
      async pause(session) {
        const now = Date.now();
        const ids = { session, key: newId(now), confirmation: `adk-${newId(now)}` };
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

const SLOTS = ["session", "key", "confirmation"] as const satisfies readonly (keyof Ids)[];

/** A query whose values have gaps for the ids: text and the name of an id in turn. */
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
  const values = (query.values ?? []).map((value: unknown) => {
    if (typeof value !== "string" || ids === undefined) return value;
    const found = SLOTS.map((slot) => ids[slot]);
    const pieces = value.split(new RegExp(`(${found.join("|")})`));
    return pieces.length === 1
      ? value
      : pieces.map((piece, i) => (i % 2 === 0 ? piece : (SLOTS[found.indexOf(piece)] ?? piece)));
  });
  const commits = isCommit(query.text);
  return { query, values, commits, waits: commits && isSynced(query.text, query.values ?? []) };
}

function withIds({ query, values }: Template, ids: Ids): pg.QueryConfig {
  const filled = values.map((value) => {
    if (!Array.isArray(value)) return value;
    let text = "";
    for (const [i, piece] of (value as readonly string[]).entries())
      text += i % 2 === 0 ? piece : ids[piece as keyof Ids];
    return text;
  });
  return { ...query, values: filled };
}

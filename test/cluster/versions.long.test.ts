import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { ANYBODY, type JournalRecord, type Ledger } from "../../src/engine/index.ts";
import { fromEventId } from "../../src/http/feed/event-id.ts";
import type { Confirmation } from "../../src/index.ts";
import { isJsonObject, type JsonObject } from "../../src/protocol/index.ts";
import { databaseName, execute } from "../support/postgres/server.ts";
import { bundleEarlierVersion } from "../support/processes/earlier-version.ts";
import { Resources } from "../support/resources.ts";
import { type Asked, MixedVersions, VERSIONS, type VersionName } from "./mixed-versions.ts";

const TIMEOUT_MS = 600_000;
const LOADS = 2;
/** Which version decides for the server that is killed, and of which the next one is. The first is of the earlier one. */
const KILLS: readonly (readonly [VersionName, VersionName])[] = [
  ["present", "present"],
  ["earlier", "earlier"],
  ["present", "present"],
];
const PAGE = 500;

const resources = new Resources();
let earlier: string;

beforeAll(async () => {
  earlier = bundleEarlierVersion(await resources.folder());
}, TIMEOUT_MS);

afterAll(() => resources.release());

async function database(): Promise<string> {
  const server = inject("postgres");
  const name = databaseName();
  await execute(server, `create database ${name}`);
  resources.add(() => execute(server, `drop database ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function file(): Promise<string> {
  return `sqlite:${join(await resources.folder(), "ledger.db")}`;
}

const ENDED: readonly Confirmation["status"][] = [
  "succeeded",
  "failed",
  "denied",
  "expired",
  "cancelled",
  "unknown",
];

const ENDS: { readonly [fate in Asked["fate"]]: readonly Confirmation["status"][] } = {
  denied: ["denied"],
  approved: ["succeeded"],
  risked: ["succeeded", "unknown"],
  lost: ["unknown"],
  repeated: ["succeeded"],
};

/** How often the body began. */
function assertDeeds(
  { teller }: MixedVersions,
  { number, fate }: Asked,
  status: Confirmation["status"],
): void {
  const deeds = teller.deeds(number);
  const what = `${fate} ${number}, ${status}`;
  switch (fate) {
    case "denied":
      return expect(deeds, what).toHaveLength(0);
    case "approved":
    case "lost":
      return expect(deeds, what).toHaveLength(1);
    case "risked":
      // It may have been killed after the claim and before the body.
      return expect([status === "unknown" ? 0 : 1, 1], what).toContain(deeds.length);
    case "repeated":
      expect(deeds, what).toHaveLength(2);
      return expect(new Set(deeds.map(({ key }) => key)).size, `${what}: under one key`).toBe(1);
  }
}

async function journalOf({ journal }: Ledger): Promise<readonly JournalRecord[]> {
  const records: JournalRecord[] = [];
  for (;;) {
    const page = await journal.records({ after: records.at(-1)?.seq ?? 0, limit: PAGE });
    records.push(...page);
    if (page.length === 0) return records;
  }
}

function bodyOf({ body }: JournalRecord): JsonObject {
  return isJsonObject(body) ? body : {};
}

/** Calls that were started before somebody approved them. */
function unapproved(records: readonly JournalRecord[]): readonly unknown[] {
  const approved = new Set<unknown>();
  return records.flatMap((record) => {
    const { call } = bodyOf(record);
    if (record.kind === "confirmation-approved") approved.add(call);
    return record.kind === "call-started" && !approved.has(call) ? [call] : [];
  });
}

/** Clients of each version, and one that moved between them, were told of every change, in order and once. */
async function assertFeeds(world: MixedVersions): Promise<readonly JournalRecord[]> {
  const { records, digestKey } = await world.read(async (ledger) => ({
    records: await journalOf(ledger),
    digestKey: ledger.digestKey,
  }));
  const places = records
    .filter((record) => "confirmation" in bodyOf(record) || "call" in bodyOf(record))
    .map(({ seq, hash }) => ({ seq, hash }));
  const reader = { ledger: { digestKey }, viewer: ANYBODY };
  for (const [name, watch] of Object.entries(world.watches)) {
    await watch.count(places.length);
    expect(
      watch.messages.map(({ id }) => fromEventId(reader, id)),
      name,
    ).toEqual(places);
  }
  return records;
}

// That a process of an older version stops after a breaking migration, and says what to do, is tested beside
// `src/stores/postgres/schema/migrate.ts`.
describe.concurrent("the last version and this one on one ledger", () => {
  test.each([
    { kind: "a PostgreSQL database", creator: "earlier", open: database },
    { kind: "a SQLite file", creator: "present", open: file },
  ] as const)(
    "$kind, created by the $creator one: under load and kills nothing runs twice, unapproved or is lost",
    async ({ creator, open }) => {
      const world = await MixedVersions.begin(resources, { ledger: await open(), creator, earlier });
      let isEnough = false;
      const loads = Array.from({ length: LOADS }, () => world.load(() => isEnough));
      for (const [other, next] of KILLS) await world.killVictim(other, next);
      isEnough = true;
      await Promise.all(loads);
      const { asked, watches, servers } = world;
      for (const one of asked) {
        const told = await Promise.all(VERSIONS.map((name) => watches[name].until(one.id, ...ENDED)));
        const shown = await Promise.all(
          VERSIONS.map((name) => servers[name].get<Confirmation>(`/v1/confirmations/${one.id}`)),
        );
        const [{ status }] = shown as [Confirmation, Confirmation];
        expect(
          [...told, ...shown].map((confirmation) => confirmation.status),
          `${one.number}`,
        ).toEqual(Array.from({ length: 4 }, () => status));
        expect(ENDS[one.fate], `${one.fate} ${one.number}`).toContain(status);
        assertDeeds(world, one, status);
      }
      const fates = new Map(asked.map(({ fate }) => [fate, asked.filter((one) => one.fate === fate).length]));
      expect(fates.get("lost")).toBe(KILLS.length);
      expect(fates.get("approved"), "there was load").toBeGreaterThan(2 * KILLS.length);
      for (const name of VERSIONS)
        expect(await servers[name].get("/v1/audit/verify"), name).toMatchObject({ ok: true, faults: [] });
      expect(unapproved(await assertFeeds(world))).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

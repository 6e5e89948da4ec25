import { spawnSync } from "node:child_process";
import { createLedger, type Ledger } from "../../src/index.ts";
import { ENTRY } from "../support/processes/command-line.ts";
import type { Resources } from "../support/resources.ts";
import { AgentFolder } from "./agent-folder.ts";
import { FeedWatch } from "./feed-watch.ts";
import { ServedReplica } from "./served-replica.ts";

export const VERSIONS = ["earlier", "present"] as const;
export type VersionName = (typeof VERSIONS)[number];

const ENV = { COUNTERSIGN_SECRET: "the secret of both versions, long enough" };
/** From this number on, a tool ends only when it is told to. */
const FIRST_HELD = 1_000;
/** So many are load enough. */
const MOST_ASKED = 600;
/** One call in so many is denied. */
const DENIED = 4;

/** One question, and what became of it as far as the test has a say in that. */
export interface Asked {
  readonly id: string;
  readonly number: number;
  /**
   * `denied`; `approved` by a server that lives on; `risked`: approved by one that was killed at about that time; `lost`: it
   * ran when its server was killed, and may not be repeated; `repeated`: it may.
   */
  readonly fate: "denied" | "approved" | "risked" | "lost" | "repeated";
}

/** Servers of two versions on one ledger: one of each that stays, and a third that is killed again and again. */
export class MixedVersions {
  readonly ledger: string;
  readonly teller: AgentFolder;
  readonly asked: Asked[] = [];
  readonly servers: { readonly [version in VersionName]: ServedReplica };
  /** Clients of the servers that stay, and one that goes from each server that is killed to the next. */
  readonly watches: { readonly [version in VersionName | "moving"]: FeedWatch };
  readonly #start: (version: VersionName) => Promise<ServedReplica>;
  #victim: ServedReplica;
  #number = 0;
  #held = FIRST_HELD;

  private constructor(parts: Pick<MixedVersions, "ledger" | "teller" | "servers" | "watches"> & Hidden) {
    this.ledger = parts.ledger;
    this.teller = parts.teller;
    this.servers = parts.servers;
    this.watches = parts.watches;
    this.#start = parts.start;
    this.#victim = parts.victim;
  }

  /** The ledger is created by one version and joined by the other. */
  static async begin(
    resources: Resources,
    {
      ledger,
      creator,
      earlier,
    }: { readonly ledger: string; readonly creator: VersionName; readonly earlier: string },
  ): Promise<MixedVersions> {
    const entries = { earlier, present: ENTRY };
    migrate(entries[creator], ledger);
    const teller = await AgentFolder.in(await resources.folder());
    const start = (version: VersionName): Promise<ServedReplica> =>
      ServedReplica.start(resources, { folder: teller.folder, ledger, env: ENV, entry: entries[version] });
    const [before, present, victim] = await Promise.all([
      start("earlier"),
      start("present"),
      start("earlier"),
    ]);
    const watches = {
      earlier: await FeedWatch.on(resources, before),
      present: await FeedWatch.on(resources, present),
      moving: await FeedWatch.on(resources, victim),
    };
    return new MixedVersions({
      ledger,
      teller,
      servers: { earlier: before, present },
      watches,
      start,
      victim,
    });
  }

  /** Asks one after the other, each on one version and decided on the other, until that is enough. */
  async load(isEnough: () => boolean): Promise<void> {
    for (let turn = 0; !isEnough() && this.#number < MOST_ASKED; turn += 1) {
      const [asker, decider] =
        turn % 2 === 0 ? (["earlier", "present"] as const) : (["present", "earlier"] as const);
      const { id, number } = await this.#ask(this.servers[asker], "pay", ++this.#number);
      const confirmed = turn % DENIED !== DENIED - 1;
      await approveOrDeny(this.servers[decider], id, confirmed);
      this.asked.push({ id, number, fate: confirmed ? "approved" : "denied" });
    }
  }

  /**
   * Kills the third server while it runs calls, and decides what it had asked on the other version. The next one is of the
   * version `next`.
   */
  async killVictim(other: VersionName, next: VersionName): Promise<void> {
    const victim = this.#victim;
    const orphan = await this.#ask(victim, "pay", ++this.#number);
    const lost = await this.#ask(this.servers[other], "pay", this.#held++);
    const repeated = await this.#ask(this.servers[other], "sync", this.#held++);
    await Promise.all([lost, repeated].map(({ id }) => approveOrDeny(victim, id, true)));
    await Promise.all([lost, repeated].map(({ number }) => this.teller.begun(number)));
    const risked = await this.#ask(this.servers[other], "pay", ++this.#number);
    const answered = approveOrDeny(victim, risked.id, true).catch(() => undefined);
    victim.signal("SIGKILL");
    await Promise.all([victim.ended, answered, this.watches.moving.ended.catch(() => {})]);
    for (const { number } of [lost, repeated]) this.teller.release(number);
    // Whoever got no answer asks again, elsewhere.
    await approveOrDeny(this.servers[other], risked.id, true);
    await approveOrDeny(this.servers[other], orphan.id, true);
    this.asked.push(
      { ...orphan, fate: "approved" },
      { ...lost, fate: "lost" },
      { ...repeated, fate: "repeated" },
      { ...risked, fate: "risked" },
    );
    this.#victim = await this.#start(next);
    await this.watches.moving.follow(this.#victim);
  }

  /** Opens the ledger in this process, as this version reads it. */
  async read<T>(use: (ledger: Ledger) => Promise<T>): Promise<T> {
    const ledger = await createLedger(this.ledger);
    try {
      return await use(ledger);
    } finally {
      await ledger.close();
    }
  }

  async #ask(server: ServedReplica, tool: string, number: number): Promise<Pick<Asked, "id" | "number">> {
    const [id] = await server.ask(`${tool}-${number}`, `${tool} ${number}`);
    if (id === undefined) throw new Error(`${tool} ${number} was not asked for.`);
    return { id, number };
  }
}

interface Hidden {
  readonly start: (version: VersionName) => Promise<ServedReplica>;
  readonly victim: ServedReplica;
}

async function approveOrDeny(server: ServedReplica, id: string, confirmed: boolean): Promise<void> {
  const { status } = await server.decide(id, confirmed);
  if (status !== 200) throw new Error(`The decision on ${id} was answered with ${status}.`);
}

function migrate(entry: string, ledger: string): void {
  const { status, stderr } = spawnSync(process.execPath, [entry, "migrate", "--db", ledger], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...ENV },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`migrate ended with ${status}: ${stderr}`);
}

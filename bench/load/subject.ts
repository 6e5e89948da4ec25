import { setTimeout as sleep } from "node:timers/promises";
import { FULL, fullSession } from "../../test/support/ledger/full-session.ts";
import { callKey } from "./agent.ts";
import { Client } from "./client.ts";
import { nowMs } from "./clock.ts";
import { News } from "./news.ts";
import type { Asked, Memory } from "./server.ts";
import { ServerProcess } from "./server-process.ts";

/** How much is done at once: enough that the machine, and not the waiting, is the limit. */
const LANES = 16;
/** A session rests until so many others were decided: by then its run is over. */
const RESTING = 4 * LANES;
/** One decision in so many is on a session that was there before the server was. */
const LOADED_ONE_IN = 8;
const LOOK_EVERY_MS = 100;
/** The filters that the inbox is looked at with, in turn. */
const LOOKS = ["", `&tool=${FULL.tool}`, "&user=user-4", `&agent=${FULL.agent}`, "&q=close"] as const;
/** For what was decided last to be entered and told of. */
const SETTLING_MS = 1_000;

/** What was seen while decisions were taken for a while. Times are in milliseconds. */
export interface Slice {
  readonly decisions: number;
  readonly ms: number;
  /** From sending a decision to the first line of the tool, in sessions under way. */
  readonly toTool: readonly number[];
  /** The same, in sessions that were loaded. */
  readonly toToolLoaded: readonly number[];
  /** The first page of the inbox. */
  readonly inbox: readonly number[];
  /** From sending a decision to reading of it on the live feed. */
  readonly toNews: readonly number[];
}

interface Decision {
  readonly key: string;
  readonly confirmation: string;
  readonly sentAt: number;
  readonly loaded: boolean;
}

/** A ledger, the server on it, and the people who decide. */
export class Subject {
  readonly #server: ServerProcess;
  readonly #client: Client;
  readonly #news: News;
  readonly #paused: Asked[];
  readonly #resting: Asked[] = [];
  readonly #loaded: number;
  #decided = 0;
  #nextLoaded = 0;

  private constructor(
    parts: { server: ServerProcess; client: Client; news: News },
    asked: readonly Asked[],
    loaded: number,
  ) {
    this.#server = parts.server;
    this.#client = parts.client;
    this.#news = parts.news;
    this.#paused = [...asked];
    this.#loaded = loaded;
  }

  /** With so many sessions under way, beside those that were loaded. */
  static async open(
    url: string,
    { inFlight, loaded }: { readonly inFlight: number; readonly loaded: number },
  ): Promise<Subject> {
    const server = new ServerProcess(url);
    const { url: address } = await server.ask({ kind: "open" });
    const asked = await server.ask({ kind: "ask", count: inFlight });
    const news = new News();
    await news.open(address);
    return new Subject({ server, news, client: new Client(address) }, asked, loaded);
  }

  /** Decides as fast as it goes, and keeps as many sessions under way as there were. */
  async decideFor(ms: number): Promise<Slice> {
    const began = nowMs();
    const isOver = (): boolean => nowMs() - began >= ms;
    const decisions: Decision[] = [];
    const inbox: number[] = [];
    const lanes = Array.from({ length: LANES }, async () => {
      while (!isOver()) await this.#turn(decisions);
    });
    await Promise.all([...lanes, this.#look(isOver, inbox)]);
    const elapsed = nowMs() - began;
    await sleep(SETTLING_MS);
    return { ...(await this.#seen(decisions)), inbox, decisions: decisions.length, ms: elapsed };
  }

  memory(): Promise<Memory> {
    return this.#server.ask({ kind: "memory" });
  }

  async close(): Promise<void> {
    this.#news.close();
    this.#client.close();
    await this.#server.stop();
  }

  /** A decision, and a message in a session whose run is over. */
  async #turn(decisions: Decision[]): Promise<void> {
    this.#decided += 1;
    const loaded = this.#loaded > 0 && this.#decided % LOADED_ONE_IN === 0;
    const asked = loaded ? this.#takeLoaded() : this.#paused.shift();
    if (asked === undefined) throw new Error("Nobody waits any more.");
    const sentAt = nowMs();
    const { session, callId } = await this.#client.approve(asked.confirmation);
    const key = callKey(session, callId);
    decisions.push({ key, sentAt, loaded, confirmation: asked.confirmation });
    if (!loaded) this.#resting.push(asked);
    const rested = this.#resting.length > RESTING ? this.#resting.shift() : undefined;
    if (rested === undefined) return;
    const confirmation = await this.#client.say(rested);
    if (confirmation === undefined) this.#resting.push(rested);
    else this.#paused.push({ ...rested, confirmation });
  }

  // Far apart from each other, and of the tool and the app that the server has.
  #takeLoaded(): Asked {
    this.#nextLoaded += 7_919 * 2;
    const n = this.#nextLoaded % this.#loaded;
    const { user, id, confirmation } = fullSession(n % 20 === 0 ? n + 2 : n);
    return { user, session: id, confirmation };
  }

  async #look(isOver: () => boolean, took: number[]): Promise<void> {
    for (let look = 0; !isOver(); look += 1) {
      const began = nowMs();
      await this.#client.inbox(LOOKS[look % LOOKS.length] ?? "");
      took.push(nowMs() - began);
      await sleep(LOOK_EVERY_MS);
    }
  }

  async #seen(decisions: readonly Decision[]): Promise<Pick<Slice, "toTool" | "toToolLoaded" | "toNews">> {
    const entered = new Map(await this.#server.ask({ kind: "entered" }));
    const told = this.#news.take(decisions.map(({ confirmation }) => confirmation));
    const waited = (of: readonly Decision[]): number[] =>
      of.map(({ key, sentAt }) => {
        const at = entered.get(key);
        if (at === undefined) throw new Error(`The tool was not entered for ${key}.`);
        return at - sentAt;
      });
    return {
      toTool: waited(decisions.filter(({ loaded }) => !loaded)),
      toToolLoaded: waited(decisions.filter(({ loaded }) => loaded)),
      toNews: decisions.map(
        ({ confirmation, sentAt }) => (told.get(confirmation) ?? Number.POSITIVE_INFINITY) - sentAt,
      ),
    };
  }
}

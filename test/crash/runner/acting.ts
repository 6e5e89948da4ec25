import type { Line } from "../../support/processes/child.ts";
import type { LifeLine } from "../life.ts";
import type { CommitStrike } from "./killer.ts";
import type { ScenarioName } from "./scenarios.ts";

/** One process of a run. It does nothing until it is told to {@link Go}. */
export interface ActorOptions {
  readonly ledger: string;
  readonly effects: string;
  readonly seed: number;
  readonly scenarios: readonly ScenarioName[];
  /** The Runner's option, if it is not its default. */
  readonly maxLostAttempts?: number;
}

/** One session of a run; its name says its scenario. */
export type SessionId = `${ScenarioName}:${string}`;

/** What a process is told to do. */
export interface Go {
  readonly type: "go";
  /** Bring these to their end: say the message where none was said, recover, decide, settle. */
  readonly sessions: readonly SessionId[];
  /** Then this one. */
  readonly next?: SessionId;
  /** Where to be struck: while `next` runs, or at anything if there is none. */
  readonly strike?: CommitStrike;
  /** Of the messages that were not said yet, say only these. */
  readonly share?: { readonly index: number; readonly of: number };
}

/** What a process says. */
export type ActorLine =
  | LifeLine
  /** Everything that earlier processes left is at its end. */
  | (Line & { readonly type: "recovered" });

export function scenarioOf(session: SessionId): ScenarioName {
  return session.slice(0, session.indexOf(":")) as ScenarioName;
}

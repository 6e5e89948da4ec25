import type { SessionRecord } from "../../engine/index.ts";
import {
  CountersignError,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  member,
} from "../../protocol/index.ts";
import { redactCalls } from "../../runtime/index.ts";
import { cardLink } from "../links.ts";
import { clientProblem } from "../problems.ts";
import { hasScope } from "../scopes.ts";
import type { Site } from "../site.ts";
import { type AguiEvent, type Interrupt, PROTOCOL_VERSION } from "./events.ts";
import { interruptsOf } from "./interrupts.ts";
import type { PreparedRun } from "./start-run.ts";
import { type FailedEvent, Translation, toMessages } from "./translate.ts";

/** An answer that decided nothing, and why. */
interface Refusal {
  readonly id?: string;
  readonly code: string;
  readonly message: string;
}

/**
 * A run as AG-UI's events. It ends with the session's state and conversation as the ledger has them, and then says
 * whether it waits for a person.
 */
export async function* aguiEvents(site: Site, prepared: PreparedRun): AsyncGenerator<AguiEvent> {
  const { run, events } = prepared;
  // Asked for before anything is sent, so that the message is accepted even if nobody reads on.
  const first = events?.next();
  first?.catch(() => {});
  yield { type: "RUN_STARTED", ...run, protocolVersion: PROTOCOL_VERSION };
  const translation = new Translation();
  let refused: readonly Refusal[] = [];
  try {
    for (let next = await first; next !== undefined && next.done !== true; next = await events?.next()) {
      yield* translation.of(next.value);
    }
  } catch (error) {
    refused = refusalsIn(error);
    if (refused.length === 0) throw error;
  } finally {
    await events?.return(undefined);
  }
  yield* translation.end();
  const leave = await site.turns.take(prepared.by);
  try {
    yield* closing(site, prepared, { failed: translation.failed, refused });
  } finally {
    leave();
  }
}

/** What a run ends with if it cannot go on. */
export function errorEvent(error: unknown): AguiEvent {
  const { detail, code } = clientProblem(error, 500);
  return { type: "RUN_ERROR", message: detail, code };
}

interface Ended {
  readonly failed: readonly FailedEvent[];
  /** Set if all that the message had was refused. */
  readonly refused: readonly Refusal[];
}

async function* closing(site: Site, prepared: PreparedRun, ended: Ended): AsyncGenerator<AguiEvent> {
  const { name, by, ledger, run } = prepared;
  const session = (await ledger.load({ session: name }))?.session;
  const stored = session === undefined ? [] : await ledger.events(session.key);
  const ids = new Set(stored.map(({ id }) => id));
  // Refusals are sent, but not stored.
  const told = ended.failed.filter(({ id }) => !ids.has(id)).map(toRefusal);
  const refused = [...ended.refused, ...told].map((one) => withLink(site, one));
  for (const { id, code, message } of refused) {
    const value = { ...(id === undefined ? {} : { interruptId: id }), code, message };
    yield { type: "CUSTOM", name: "countersign:refused", value };
  }
  if (session !== undefined && hasScope(by, "read")) {
    yield { type: "STATE_SNAPSHOT", snapshot: await ledger.state(session.key) };
    const shown = await redactCalls(ledger, session.key, stored.filter(isToUser));
    yield { type: "MESSAGES_SNAPSHOT", messages: toMessages(shown) };
  }
  const interrupts = session === undefined ? [] : await waiting(site, prepared, session);
  const failure = ended.failed.findLast(({ id }) => ids.has(id));
  yield failureEvent(failure, ended.refused.length === 0 ? [] : refused, interrupts) ?? {
    type: "RUN_FINISHED",
    ...run,
    outcome: interrupts.length === 0 ? { type: "success" } : { type: "interrupt", interrupts },
  };
}

/** The run failed, or nothing of it was accepted and a question is still open that the client has answered. */
function failureEvent(
  failure: FailedEvent | undefined,
  refused: readonly Refusal[],
  interrupts: readonly Interrupt[],
): AguiEvent | undefined {
  if (failure !== undefined) {
    return { type: "RUN_ERROR", message: failure.errorMessage ?? failure.errorCode, code: failure.errorCode };
  }
  const still = refused.find(({ id }) => interrupts.some((open) => open.id === id));
  return still && { type: "RUN_ERROR", message: still.message, code: still.code };
}

async function waiting(
  site: Site,
  { by, ledger, name }: PreparedRun,
  session: SessionRecord,
): Promise<readonly Interrupt[]> {
  const counting = await site.counting(name.app);
  return interruptsOf(site, ledger, { session, viewer: by, counting });
}

// What an agent was given by another one is not the user's.
function isToUser({ author, branch }: { readonly author: string; readonly branch?: string }): boolean {
  return author !== "user" || branch === undefined;
}

function refusalsIn(error: unknown): readonly Refusal[] {
  const listed = CountersignError.isInstance(error) ? member(error.details, "refused") : undefined;
  return (isJsonArray(listed) ? listed : []).filter(isJsonObject).map((one) => ({
    ...idIn(one, "confirmation", "id"),
    code: textIn(one, "code"),
    message: textIn(one, "message"),
  }));
}

function toRefusal({ errorCode, errorMessage = "", customMetadata }: FailedEvent): Refusal {
  const id = isJsonObject(customMetadata) ? idIn(customMetadata, "confirmation") : {};
  return { ...id, code: errorCode, message: errorMessage };
}

function idIn(value: JsonObject, ...names: readonly string[]): { readonly id?: string } {
  const id = names.map((name) => textIn(value, name)).find((one) => one !== "");
  return id === undefined ? {} : { id };
}

function textIn(value: JsonObject, name: string): string {
  const text = member(value, name);
  return typeof text === "string" ? text : "";
}

function withLink(site: Site, refusal: Refusal): Refusal {
  const { id, code, message } = refusal;
  if (code !== "not-an-approver" || id === undefined) return refusal;
  return { ...refusal, message: `${message} Decide it at ${cardLink(site, id)}` };
}

import { createHash } from "node:crypto";
import {
  type DecisionInput,
  type Engine,
  KEY_KNOWN_MS,
  type Ledger,
  type OnceKey,
  type Principal,
  type StoredItem,
} from "../../engine/index.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import { refused } from "../messages/index.ts";
import { shownIn, type TaskView, taskIdOf } from "../tasks/index.ts";
import { closedTo, complaintAbout, noteRefusals, VIA } from "./access.ts";
import { type Answer, readAnswer } from "./read-answer.ts";

/** An answer that came in a message. */
export interface AnswerMessage {
  readonly answer: Answer;
  readonly view: TaskView;
  readonly principal: Principal;
  /** The id of the whole message. The same id with other content is refused. */
  readonly messageId: string;
  readonly digest: string;
}

const KIND = "a2a-answer";

/**
 * Takes an answer as decisions. All of it is checked first; one error refuses everything. The decisions are stored
 * before the first one is committed, so that the same message, sent again after a crash, completes them; what it has
 * decided, it decides no more. Throws if nothing, or not all of it, was accepted.
 */
export async function takeAnswer(
  engine: Engine,
  { answer, view, principal, messageId, digest }: AnswerMessage,
  { decisions: doorIsOpen }: { readonly decisions: boolean },
): Promise<void> {
  const { ledger } = engine;
  const closed = closedTo(principal, doorIsOpen);
  if (closed !== undefined) {
    await noteRefusals(engine, view.open, { by: principal, code: closed.code });
    throw refused(closed.code, closed.message);
  }
  const id = keyOf(view, principal, messageId);
  const known = await ledger.items.get(KIND, id);
  const expiresAt = view.now + KEY_KNOWN_MS;
  // By the message's content too: its id is free for another one before this is forgotten.
  const key = { id: `${id}.${digest}`, expiresAt };
  if (known !== undefined) return commit(engine, rememberedIn(known, digest), { by: principal, key });
  const decisions = readAnswer(answer, { open: view.open, shown: await shownIn(ledger, view.ref) });
  await check(engine, view, { decisions, principal });
  const value = { digest, decisions: decisions.map((decision) => ({ ...decision })) };
  const isFirst = await ledger.items.put({ kind: KIND, id, value, expiresAt }, 0);
  return commit(engine, isFirst ? decisions : await remembered(ledger, id, digest), { by: principal, key });
}

async function check(
  engine: Engine,
  { open, now }: TaskView,
  { decisions, principal }: { readonly decisions: readonly DecisionInput[]; readonly principal: Principal },
): Promise<void> {
  for (const decision of decisions) {
    const item = open.find(({ confirmation }) => confirmation.id === decision.id);
    const complaint = item && (await complaintAbout(decision, item, { engine, principal, now }));
    if (item === undefined || complaint === undefined) continue;
    if (complaint.code === "not-an-approver") {
      await noteRefusals(engine, [item], { by: principal, code: complaint.code });
    }
    throw refused(complaint.code, complaint.message);
  }
}

async function commit(
  engine: Engine,
  decisions: readonly DecisionInput[],
  { by, key }: { readonly by: Principal; readonly key: OnceKey },
): Promise<void> {
  const outcomes = await engine.decisions.decideAll(decisions, { by, via: VIA }, key);
  const bad = outcomes.find((outcome) => !outcome.ok);
  if (bad?.ok === false) throw refused(bad.code, bad.message);
}

function keyOf({ ref }: TaskView, { kind, id }: Principal, messageId: string): string {
  return createHash("sha256")
    .update(JSON.stringify([kind, id, taskIdOf(ref), messageId]))
    .digest("base64url");
}

async function remembered(ledger: Ledger, id: string, digest: string): Promise<readonly DecisionInput[]> {
  const item = await ledger.items.get(KIND, id);
  return item === undefined ? [] : rememberedIn(item, digest);
}

function rememberedIn({ value }: StoredItem, digest: string): readonly DecisionInput[] {
  const kept: JsonObject = isJsonObject(value) ? value : {};
  if (member(kept, "digest") !== digest) {
    throw refused("key-reused", "This messageId was already used for a different message. Use a new one.");
  }
  const decisions = member(kept, "decisions");
  return isJsonArray(decisions) ? decisions.map(toDecision) : [];
}

function toDecision(value: JsonValue): DecisionInput {
  return value as unknown as DecisionInput;
}

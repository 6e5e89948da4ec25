import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock, Confirmation, Ledger, UsedUp } from "../../engine/index.ts";
import { CountersignError, type ErrorCode } from "../../protocol/index.ts";
import { isSigned, parseWebhookSecret } from "../../webhooks/index.ts";
import type { ChannelApprovals, InboundAnswer, InboundRequest, Receive } from "../inbound.ts";
import type { ChannelPerson } from "../people.ts";
import { type AnswerBody, readAnswer } from "./answer-body.ts";

const ID = /^[^\s.]{1,200}$/;
const SECONDS = /^\d{1,12}$/;
const TOLERANCE_S = 300;
/** Longer than a request is accepted: its timestamp may be five minutes ahead. */
const KEPT_MS = 24 * 3_600_000;
const KIND = "webhook-answer";
const KEY_NAME = "webhook-answer-key";
const KEY_BYTES = 32;
const STATUSES: { readonly [code in ErrorCode]?: number } = {
  "unknown-confirmation": 404,
  "not-an-approver": 403,
  forbidden: 403,
  "payload-mismatch": 422,
};

/** Somebody who may answer through the receiver. */
export interface WebhookPerson extends ChannelPerson {
  /** The name by which the receiver knows them. */
  readonly webhook: string;
}

/** Who may answer by a signed request of the receiver. */
export interface WebhookAnswers {
  /** `whsec_…`, with which the receiver signs; other ones than ours. Several while they are rotated. */
  readonly secrets: readonly string[];
  readonly people: readonly WebhookPerson[];
  /** Where it is stored which requests were acted upon. */
  readonly ledger: Pick<Ledger, "items" | "now">;
}

/** Answers to the questions of one webhook channel. */
export interface AnswerDoor {
  /** A value that binds an answer to this question, as it was shown. */
  readonly answerTo: (about: Confirmation) => Promise<string>;
  readonly receive: Receive;
}

/** Throws `invalid-option` for secrets that are invalid, missing, or the ones that sign our own messages. */
export function createAnswerDoor(
  { secrets, people, ledger }: WebhookAnswers,
  {
    name,
    clock,
    ownKeys,
  }: { readonly name: string; readonly clock: Clock; readonly ownKeys: readonly Uint8Array[] },
): AnswerDoor {
  const keys = secrets.map(parseWebhookSecret);
  const isOwn = keys.some((key) => ownKeys.some((own) => Buffer.compare(key, own) === 0));
  // Else a message of ours could be sent back to us, with a good signature.
  if (keys.length === 0 || isOwn)
    throw invalid("Answers to a webhook need a secret of their own, other than the one that signs messages.");
  if (new Set(people.map(({ webhook }) => webhook)).size < people.length)
    throw invalid("Two people who answer by webhook have the same name there.");
  const door: Door = { name, keys, people, ledger, clock };
  return {
    answerTo: async (about) => answerValue(await bindingKey(ledger), door, about),
    receive: (request, approvals) => receive(door, request, approvals),
  };
}

interface Door {
  readonly name: string;
  readonly keys: readonly Uint8Array[];
  readonly people: readonly WebhookPerson[];
  readonly ledger: Pick<Ledger, "items" | "now">;
  readonly clock: Clock;
}

async function receive(
  door: Door,
  request: InboundRequest,
  approvals: ChannelApprovals,
): Promise<InboundAnswer> {
  if (request.method !== "POST") return { status: 405 };
  const webhookId = provenId(door, request);
  if (webhookId === undefined) return told(401, "unauthenticated", "The signature or the time is wrong.");
  const read = readAnswer(request.body);
  if (!read.ok) return told(400, "malformed-decision", read.message);
  const { answer } = read;
  const version = await shownVersion(door, answer);
  if (version === undefined)
    return told(400, "malformed-decision", "`answerTo` is not the value of a message about this question.");
  const person = door.people.find(({ webhook }) => webhook === answer.person);
  if (person === undefined) {
    await approvals.refuse(answer.confirmation, `webhook:${answer.person}`);
    return told(403, "not-an-approver", "This person may not answer here. Ask an operator to add them.");
  }
  return decide(door, { answer, version, person, uses: usesOf(door, webhookId, request) }, approvals);
}

/** The request's id, if it is signed and of this time. */
function provenId({ keys, clock }: Door, { headers, body }: InboundRequest): string | undefined {
  const id = headers.get("webhook-id") ?? "";
  const at = headers.get("webhook-timestamp") ?? "";
  if (!ID.test(id) || !SECONDS.test(at)) return undefined;
  if (Math.abs(clock.now() / 1_000 - Number(at)) > TOLERANCE_S) return undefined;
  const message = { id, timestamp: at, body };
  return isSigned(message, headers.get("webhook-signature") ?? "", keys) ? id : undefined;
}

/** The version that the answer is about, if its value is the one that we sent. */
async function shownVersion(door: Door, { confirmation, answerTo }: AnswerBody): Promise<number | undefined> {
  const version = Number(/^(\d{1,15})\./.exec(answerTo)?.[1]);
  if (!Number.isSafeInteger(version)) return undefined;
  const expected = answerValue(await bindingKey(door.ledger), door, { id: confirmation, version });
  return isSame(answerTo, expected) ? version : undefined;
}

interface Deciding {
  readonly answer: AnswerBody;
  readonly version: number;
  readonly person: WebhookPerson;
  readonly uses: UsedUp;
}

async function decide(
  door: Door,
  { answer, version, person, uses }: Deciding,
  approvals: ChannelApprovals,
): Promise<InboundAnswer> {
  const { person: _name, answerTo: _value, confirmation: id, ...said } = answer;
  // Before anything is decided: a request that is sent again must not vote again.
  const before = await known(door, uses, approvals, { id, person });
  if (before !== undefined) return before;
  const decided = await approvals.decide({ ...said, id, version }, person, { uses });
  if (!decided.ok) {
    const meanwhile =
      decided.code === "forbidden" ? await known(door, uses, approvals, { id, person }) : undefined;
    const { code, message } = decided;
    return meanwhile ?? told(STATUSES[code] ?? 409, code, message);
  }
  // A decision that was stored before commits nothing, so the id is still to be kept.
  await keep(door, uses);
  return { status: 200, json: { confirmation: id, status: decided.confirmation.status } };
}

/** The answer to a request whose id was used: the same one is answered again, another one is refused. */
async function known(
  { ledger }: Door,
  { kind, id, use }: UsedUp,
  approvals: ChannelApprovals,
  about: { readonly id: string; readonly person: WebhookPerson },
): Promise<InboundAnswer | undefined> {
  const item = await ledger.items.get(kind, id);
  if (item === undefined) return undefined;
  if (item.value !== use(undefined))
    return told(409, "already-decided", "This webhook-id was used for another answer.");
  const { status = "unknown" } = (await approvals.read(about.id, about.person)) ?? {};
  return { status: 200, json: { confirmation: about.id, status, repeated: true } };
}

async function keep({ ledger }: Door, { kind, id, expiresAt, use }: UsedUp): Promise<void> {
  const value = use(undefined);
  if (value !== undefined) await ledger.items.put({ kind, id, value, expiresAt }, 0);
}

/** The request's id is stored with the decision, and with what the request said. */
function usesOf({ name, ledger }: Door, webhookId: string, { body }: InboundRequest): UsedUp {
  const digest = createHash("sha256").update(body).digest("hex");
  return {
    kind: KIND,
    id: createHash("sha256")
      .update(JSON.stringify([name, webhookId]))
      .digest("hex"),
    expiresAt: ledger.now + KEPT_MS,
    use: (value) => (value === undefined ? digest : undefined),
  };
}

/** All processes on the ledger have the same. */
async function bindingKey({ items }: Pick<Ledger, "items">): Promise<string> {
  return items.pin(KEY_NAME, randomBytes(KEY_BYTES).toString("base64"));
}

function answerValue(
  key: string,
  { name }: Pick<Door, "name">,
  { id, version }: Pick<Confirmation, "id" | "version">,
): string {
  const words = JSON.stringify(["countersign webhook answer 1", name, id, version]);
  return `${version}.${createHmac("sha256", Buffer.from(key, "base64")).update(words).digest("base64url")}`;
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function told(status: number, code: ErrorCode, detail: string): InboundAnswer {
  return { status, json: { code, detail } };
}

function invalid(message: string): CountersignError {
  return new CountersignError("invalid-option", message, { details: { field: "answers" } });
}

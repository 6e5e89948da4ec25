import { createHash } from "node:crypto";
import { type Clock, type Confirmation, KEY_KNOWN_MS, type OnceKey } from "../../engine/index.ts";
import { displayText, isJsonArray, isJsonObject, type JsonObject, member } from "../../protocol/index.ts";
import type { ChannelApprovals, InboundAnswer, InboundRequest } from "../inbound.ts";
import { type Block, plain, section } from "./blocks.ts";
import { type ButtonAct, buttonValue, isButtonValue, splitButtonValue } from "./button.ts";
import { contentOf } from "./card.ts";
import { formBlocks, formOf, readForm } from "./form.ts";
import { type Press, readInteraction, type Submission } from "./interaction.ts";
import { presserOf } from "./members.ts";
import type { SlackParts } from "./messages.ts";
import { isFromSlack } from "./signature.ts";
import type { SlackPerson } from "./slack-options.ts";

/** Slack waits three seconds for an answer, and a dialog must be opened in that time. No call of its API lasts longer. */
const MOST_MS = 2_500;
const MOST_MESSAGE = 1_000;
const REASON = "reason";
const MOST_REASON = 2_000;
const DONE: InboundAnswer = { status: 200 };
const EARLY = "Slack has not confirmed this card yet. Press again in a few seconds.";
const STALE = "This card is no longer current. Open the confirmation in the inbox.";
const STRANGER = "You are not among the people who may decide here. Ask an operator to add you.";
const NOT_ASKED = "You are not among the people who are asked about this, so nothing was decided.";
const UNKNOWN = "Slack did not say who you are, so nothing was decided. Try again, or use the inbox.";

interface Receiving extends SlackParts {
  readonly approvals: ChannelApprovals;
  readonly clock: Clock;
  /** The key of this request: each press and each dialog counts once. */
  readonly once: OnceKey;
  /** Aborts when it is too late for Slack's API. */
  readonly signal: AbortSignal;
}

/** Takes a request of Slack: a button, or a dialog. It is answered once what it decides is committed. */
export async function receiveInteraction(
  parts: SlackParts,
  request: InboundRequest,
  { approvals, clock }: Pick<Receiving, "approvals" | "clock">,
): Promise<InboundAnswer> {
  const { settings } = parts;
  if (request.method !== "POST") return { status: 405 };
  if (!isFromSlack(request, settings.signingSecret, clock.now())) return { status: 401 };
  const interaction = readInteraction(request.body, settings);
  if (interaction === undefined) return { status: 400 };
  const signal = AbortSignal.timeout(MOST_MS);
  const receiving = { ...parts, approvals, clock, signal, once: keyOf(request, clock) };
  if (interaction.type === "press") return takePress(receiving, interaction);
  return interaction.type === "submission" ? takeSubmission(receiving, interaction) : DONE;
}

// Slack gives each interaction an id of its own, so equal bytes are the same one.
function keyOf({ body }: InboundRequest, clock: Clock): OnceKey {
  const id = `slack ${createHash("sha256").update(body).digest("base64url")}`;
  return { id, expiresAt: clock.now() + KEY_KNOWN_MS };
}

/** A button or a dialog that is ours, with the confirmation that it is bound to. */
interface Bound {
  readonly confirmation: string;
  readonly version: number;
  readonly key: string;
  readonly target: string;
}

async function takePress(receiving: Receiving, press: Press): Promise<InboundAnswer> {
  const act = actOf(press.action);
  // The button that opens the inbox is told of too.
  if (act === undefined) return DONE;
  const bound = await bindPress(receiving, press, act);
  if (typeof bound === "string") return say(receiving, press, bound);
  const person = await personOf(receiving, press.user, bound);
  if (typeof person === "string") return say(receiving, press, person);
  const about = await receiving.approvals.read(bound.confirmation, person);
  if (about === undefined) return say(receiving, press, STALE);
  if (act !== "reject" && !isAllShown(about, press)) return say(receiving, press, STALE);
  if (act !== "approve" && about.can.decide) return openDialog(receiving, press, { ...bound, act, about });
  const { approvals, once } = receiving;
  // Their rights may change at this moment, and they have filled in nothing.
  if (act !== "approve" && about.status === "requested") {
    await approvals.refuse(bound.confirmation, person);
    return say(receiving, press, NOT_ASKED);
  }
  // A person who may not decide is refused by `mayDecide`, and that is journalled.
  const input = { id: bound.confirmation, version: bound.version, confirmed: act !== "reject" };
  const decided = await approvals.decide(input, person, { once });
  return decided.ok ? DONE : say(receiving, press, decided.message);
}

function actOf(action: string): ButtonAct | undefined {
  return action === "approve" || action === "reject" || action === "fill" ? action : undefined;
}

/** The person of the configuration; otherwise what to say. */
async function personOf(
  receiving: Receiving,
  user: string,
  { confirmation }: Bound,
): Promise<SlackPerson | string> {
  const presser = await presserOf(receiving, user, receiving.signal);
  if (presser === "unknown") return UNKNOWN;
  if (presser !== "stranger") return presser;
  await receiving.approvals.refuse(confirmation, `slack:${user}`);
  return STRANGER;
}

/** The facts of a pressed button, if we gave it out, in exactly this message; otherwise what to say. */
async function bindPress(receiving: Receiving, press: Press, act: ButtonAct): Promise<Bound | string> {
  const split = splitButtonValue(press.value);
  const messages = split && (await receiving.book.read(split.key));
  if (split === undefined || messages === undefined || !isUnedited(receiving, press)) return STALE;
  const there = Object.entries(messages.to).filter(([, { place }]) => place === press.place);
  const [target] = there.find(([, { message }]) => message === press.message) ?? [];
  if (target === undefined) return there.some(([, { state }]) => state !== "sent") ? EARLY : STALE;
  const facts = { act, ...split, confirmation: messages.subject, where: [target] };
  const isOurs = isButtonValue(await receiving.buttonKey(), String(press.value), facts);
  return isOurs ? { ...split, confirmation: messages.subject, target } : STALE;
}

// Only we edit our messages. Slack says whose app a message is of, and who edited it last.
function isUnedited({ settings }: Receiving, { shown }: Press): boolean {
  const { edited, app_id: app, user } = shown;
  if (app !== undefined && app !== settings.app) return false;
  return !isJsonObject(edited) || edited["user"] === user;
}

/** Is everything that must be read in the message, as we would write it now? */
function isAllShown(about: Confirmation, { shown }: Press): boolean {
  const { blocks, isWhole } = contentOf(about);
  const found = isJsonArray(shown["blocks"]) ? shown["blocks"] : [];
  const ids = found.map((block) => (isJsonObject(block) ? block["block_id"] : undefined));
  return isWhole && blocks.every((block, place) => block["block_id"] === ids[place]);
}

interface Dialog extends Bound {
  readonly act: ButtonAct;
  readonly about: Confirmation;
}

async function openDialog(receiving: Receiving, press: Press, dialog: Dialog): Promise<InboundAnswer> {
  const { act, about, key, version, target } = dialog;
  const fields = act === "fill" ? formOf(about.schema, about.payload) : [];
  if (fields === undefined) return say(receiving, press, STALE);
  const where = [target, press.user];
  const facts = { act, key, version, confirmation: dialog.confirmation, where };
  await openView(receiving, press, {
    callback_id: act,
    private_metadata: `${target} ${buttonValue(await receiving.buttonKey(), facts)}`,
    title: plain(act === "fill" ? "Approve" : "Reject"),
    submit: plain(act === "fill" ? "Approve" : "Reject"),
    close: plain("Back"),
    blocks: [
      section(displayText(about.tool, { newlines: "show", maxLength: 100 })),
      ...blocksOf(act, fields),
    ],
  });
  return DONE;
}

function blocksOf(act: ButtonAct, fields: Parameters<typeof formBlocks>[0]): readonly Block[] {
  if (act === "fill") return formBlocks(fields);
  return [
    {
      type: "input",
      block_id: REASON,
      optional: true,
      label: plain("Reason"),
      hint: plain("The model and the requester see it."),
      element: { type: "plain_text_input", action_id: "input", multiline: true, max_length: MOST_REASON },
    },
  ];
}

async function takeSubmission(receiving: Receiving, submission: Submission): Promise<InboundAnswer> {
  const act = actOf(submission.dialog);
  const bound = act === undefined ? undefined : await bindSubmission(receiving, submission, act);
  if (act === undefined || act === "approve" || bound === undefined) return told(STALE);
  const person = await personOf(receiving, submission.user, bound);
  if (typeof person === "string") return told(person);
  const { confirmation: id, version } = bound;
  const about = await receiving.approvals.read(id, person);
  if (about === undefined) return told(STALE);
  const said = act === "reject" ? reasonIn(submission) : payloadIn(about, submission);
  const { approvals, once } = receiving;
  const input = { id, version, confirmed: act === "fill", ...said };
  const decided = await approvals.decide(input, person, { once });
  if (decided.ok) return DONE;
  if (decided.code !== "payload-mismatch") return told(decided.message);
  return inField(about, decided);
}

async function bindSubmission(
  receiving: Receiving,
  { value, user }: Submission,
  act: ButtonAct,
): Promise<Bound | undefined> {
  const [target = "", signed = ""] = typeof value === "string" ? value.split(" ") : [];
  const split = splitButtonValue(signed);
  const messages = split && (await receiving.book.read(split.key));
  if (split === undefined || messages === undefined) return undefined;
  const facts = { act, ...split, confirmation: messages.subject, where: [target, user] };
  const isOurs = isButtonValue(await receiving.buttonKey(), signed, facts);
  return isOurs ? { ...split, confirmation: messages.subject, target } : undefined;
}

function reasonIn({ values }: Submission): { readonly reason?: string } {
  const block = member(values, REASON);
  const input = isJsonObject(block) ? block["input"] : undefined;
  const reason = isJsonObject(input) ? input["value"] : undefined;
  return typeof reason === "string" && reason.trim() !== "" ? { reason: reason.slice(0, MOST_REASON) } : {};
}

function payloadIn(
  { schema, payload }: Confirmation,
  { values }: Submission,
): { readonly payload: JsonObject } {
  return { payload: readForm(formOf(schema, payload) ?? [], values) };
}

/** Says what is wrong under the field that it is about. */
function inField(
  { schema, payload }: Confirmation,
  { message, field }: { readonly message: string; readonly field?: string },
): InboundAnswer {
  const names = (formOf(schema, payload) ?? []).map(({ name }) => name);
  const named = names.find((name) => field?.split(/[./[\]]/).includes(name)) ?? names[0];
  const text = displayText(message, { maxLength: MOST_MESSAGE });
  if (named === undefined) return told(message);
  return { status: 200, json: { response_action: "errors", errors: { [named]: text } } };
}

/** Puts a message in the place of the dialog. */
function told(message: string): InboundAnswer {
  return {
    status: 200,
    json: { response_action: "update", view: { type: "modal", ...messageView(message) } },
  };
}

/** Tells the person who pressed, in a dialog. Nothing that a request names is called: not its `response_url` either. */
async function say(receiving: Receiving, press: Press, message: string): Promise<InboundAnswer> {
  await openView(receiving, press, messageView(message));
  return DONE;
}

function messageView(message: string): JsonObject {
  return {
    title: plain("Not decided"),
    close: plain("Close"),
    blocks: [section(displayText(message, { maxLength: MOST_MESSAGE }))],
  };
}

// If it cannot be opened, the person sees no dialog and can press again.
async function openView({ api, signal }: Receiving, { trigger }: Press, view: JsonObject): Promise<void> {
  const args = { trigger_id: trigger, view: { type: "modal", ...view } };
  await api.call("views.open", args, signal);
}

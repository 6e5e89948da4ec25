import type { Confirmation } from "../../engine/index.ts";
import { displayText, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { NotedCall, Notice } from "../channel.ts";
import { statusWords } from "../status-words.ts";
import { hintOf } from "../subject.ts";
import { voterWords } from "../voter-words.ts";
import {
  type Block,
  context,
  header,
  LIMITS,
  MOST_TEXT,
  oneLine,
  pack,
  plain,
  section,
  withIds,
} from "./blocks.ts";
import { formOf } from "./form.ts";

const TOO_LONG = "This is too long for Slack. Open it in the inbox to read all of it.";
const MOST_HINT = 500;
const MOST_NAME = 100;
const MOST_VOTES = 20;

/** The values of the buttons that decide. */
export interface ButtonValues {
  readonly approve: string;
  readonly fill: string;
  readonly reject: string;
}

/** What a card shows of the call, before anything that changes while it waits. */
export interface CardContent {
  readonly blocks: readonly Block[];
  /** All of it is shown. Only then may it be approved here. */
  readonly isWhole: boolean;
}

/** All that the person must read, if it fits into a message; otherwise its beginning. */
export function contentOf(about: Notice["about"]): CardContent {
  return wholeContent(about) ?? shortContent(about);
}

function wholeContent(about: Notice["about"]): CardContent | undefined {
  const title = oneLine(about.tool);
  const lines = argLines(about.args);
  const hint = displayText(hintOf(about));
  const payload =
    "payload" in about && about.payload !== undefined ? [`payload: ${shown(about.payload)}`] : [];
  const texts = pack([...lines, ...payload]);
  if (texts === undefined || title.length > LIMITS.header || hint.length > LIMITS.section) return undefined;
  if ("truncated" in about && about.truncated) return undefined;
  const blocks = [header(title), ...(hint === "" ? [] : [section(hint)]), ...texts.map(section)];
  const length = [title, hint, ...texts].reduce((sum, text) => sum + text.length, 0);
  // The status, who asked, and the buttons are still to come.
  const fits = blocks.length <= LIMITS.blocks - 5 && length <= MOST_TEXT;
  return fits ? { blocks: withIds("card", blocks), isWhole: true } : undefined;
}

/** The beginning of what is too long; decides nothing but a rejection. */
export function shortContent(about: Notice["about"]): CardContent {
  const hint = displayText(hintOf(about), { maxLength: MOST_HINT });
  const blocks = [
    header(oneLine(about.tool, MOST_NAME)),
    ...(hint === "" ? [] : [section(hint)]),
    section(TOO_LONG),
  ];
  return { blocks: withIds("card", blocks), isWhole: false };
}

function argLines(args: JsonObject): readonly string[] {
  const entries = Object.entries(args);
  return entries.length === 0
    ? ["No arguments."]
    : entries.map(([name, value]) => `${oneLine(name)}: ${shown(value)}`);
}

// A text is shown as JSON writes it, so that it cannot pretend to be the next argument.
function shown(value: JsonValue): string {
  return displayText(JSON.stringify(value, null, isFlat(value) ? undefined : 2));
}

function isFlat(value: JsonValue): boolean {
  return !Array.isArray(value) && !isJsonObject(value);
}

/** A card: the call, who asks, its status, and the buttons if it waits. */
export function cardBlocks(
  { about, link }: Pick<Notice, "about" | "link">,
  content: CardContent,
  values?: ButtonValues,
): readonly Block[] {
  const isOpen = "id" in about && about.status === "requested";
  const notes = [
    ...("id" in about ? statusBlocks(about) : [section(callWords(about))]),
    context(origin(about)),
    ...actions(isOpen ? buttons(about, content, values) : [], link),
  ];
  return [...content.blocks, ...withIds("note", notes)];
}

function statusBlocks(about: Confirmation): readonly Block[] {
  const { status, decision, withdrawal } = about;
  const reason = decision?.reason ?? withdrawal;
  const votes = status === "requested" ? votesOf(about) : [];
  const by = decision === undefined ? "" : ` By ${voterOf(decision)}, ${decision.at}.`;
  return [
    section([`${statusWords(about)}${by}`, ...votes].join("\n")),
    ...(reason === undefined ? [] : [section(`Reason: ${displayText(reason, { maxLength: MOST_HINT })}`)]),
  ];
}

/** How far it is, where more than one person must approve. */
function votesOf({ requirements, votes }: Confirmation): readonly string[] {
  const needed = requirements.reduce((sum, { count }) => sum + count, 0);
  if (needed <= 1) return [];
  const approved = requirements.reduce((sum, requirement) => sum + requirement.approved, 0);
  const people = votes.map((vote) => `${voterOf(vote)} ${vote.confirmed ? "approved" : "denied"}`);
  return [`${approved} of ${needed} approvals so far.`, ...people.slice(0, MOST_VOTES)];
}

function voterOf(vote: Confirmation["votes"][number]): string {
  return oneLine(voterWords(vote), 2 * MOST_NAME);
}

function callWords({ status }: NotedCall): string {
  return status === "unknown"
    ? "The outcome of this call is unknown: somebody must find out and settle it in the inbox. Nobody was asked about it."
    : `This call is now: ${status}.`;
}

function origin(about: Notice["about"]): readonly string[] {
  const agents = "path" in about ? about.path.join(" > ") : about.agent;
  const names = [`Agent: ${agents}`, `app: ${about.app}`, `asked by: ${about.user}`];
  const lines = [names.map((name) => oneLine(name, MOST_NAME)).join(" · ")];
  if ("why" in about) lines.push(oneLine(`Why: ${about.why.join(", ")}`, MOST_HINT));
  if ("source" in about && about.source !== undefined)
    lines.push(oneLine(`From: ${about.source}`, MOST_NAME));
  if ("expiresAt" in about && about.status === "requested") lines.push(`Expires: ${about.expiresAt}`);
  return lines;
}

function buttons(
  about: Confirmation,
  { isWhole }: CardContent,
  values: ButtonValues | undefined,
): readonly JsonObject[] {
  if (values === undefined) return [];
  const needsForm = about.schema !== undefined;
  const canFill = needsForm && formOf(about.schema, about.payload) !== undefined;
  const reject = button("reject", "Reject…", { value: values.reject, style: "danger" });
  if (!isWhole || (needsForm && !canFill)) return [reject];
  const approve = needsForm
    ? button("fill", "Fill in and approve…", { value: values.fill, style: "primary" })
    : button("approve", "Approve", { value: values.approve, style: "primary" });
  return [approve, reject];
}

function button(action: string, text: string, more: JsonObject): JsonObject {
  return { type: "button", action_id: action, text: plain(text), ...more };
}

function actions(decisions: readonly JsonObject[], link: string | undefined): readonly Block[] {
  const open =
    link !== undefined && /^https?:/.test(link) ? [button("open", "Open in the inbox", { url: link })] : [];
  const elements = [...decisions, ...open];
  return elements.length === 0 ? [] : [{ type: "actions", elements }];
}

import type { Confirmation } from "../../engine/index.ts";
import type { Notice, Told } from "../channel.ts";
import { type Digest, digestFor, digestTitle, noteInDigest, stillWaiting } from "../digest.ts";
import { BEING_SENT, type Failure, OUT_OF_TIME } from "../failures.ts";
import { toChannelPrincipal } from "../people.ts";
import { type Block, context, header, oneLine, plain, section, withIds } from "./blocks.ts";
import { type Telling, THREAD } from "./messages.ts";
import { personAt, sendOnce } from "./send-once.ts";

const MOST_LISTED = 20;
const MOST_NAME = 100;
const MOST_HINT = 300;

/** What became of the digests of those who are told late. */
export interface Digested {
  /** Ids of the people whom the digest tells of this question. */
  readonly ids: ReadonlySet<string>;
  readonly failures: readonly Failure[];
}

/** Tells those who are told late by one message about all that waits for them. */
export async function tellDigests(
  telling: Telling,
  targets: readonly string[],
  late: ReadonlyMap<string, number>,
): Promise<Digested> {
  const ids = new Set<string>();
  const failures: Failure[] = [];
  for (const target of targets) {
    const person = telling.settings.people.find(({ slack }) => slack === target);
    const due = person && late.get(person.id);
    if (person === undefined || due === undefined) continue;
    const digest = await digestFor(telling, telling.notice, { person: toChannelPrincipal(person), due });
    if (digest === undefined) continue;
    const told = telling.signal.aborted ? OUT_OF_TIME : await tellDigest(telling, target, digest);
    // What one question says must not silence the others: each has its card then.
    if (!told.ok && told.final) continue;
    ids.add(person.id);
    if (!told.ok) failures.push(told);
  }
  return { ids, failures };
}

async function tellDigest(telling: Telling, target: string, digest: Digest): Promise<Told> {
  const { book, ledger, notice } = telling;
  const { subject } = digest;
  const owner = personAt(telling, target);
  const claim = await book.claim(subject, target, owner);
  if (claim.next === "wait") return BEING_SENT;
  if (claim.next !== "nothing") {
    const waiting = await stillWaiting(ledger, digest);
    const content = { text: `${digestTitle(waiting.length)}.`, blocks: digestBlocks(waiting, notice) };
    const sent = await sendOnce(
      { ...telling, subject, content },
      { target, claim, isOver: waiting.length === 0 },
    );
    if (sent !== undefined && "ok" in sent) return sent;
  }
  await noteInDigest(book, notice, { name: `${THREAD}${target}:${subject}`, person: owner.person ?? "" });
  return { ok: true };
}

/** All that waits for somebody, without buttons that decide. */
export function digestBlocks(
  waiting: readonly Confirmation[],
  { linkFor }: Pick<Notice, "linkFor">,
): readonly Block[] {
  const left = waiting.length - MOST_LISTED;
  return withIds("note", [
    header(digestTitle(waiting.length)),
    ...waiting
      .slice(0, MOST_LISTED)
      .map((about) => ({ ...section(linesOf(about)), ...opening(about, linkFor) })),
    ...(left > 0 ? [context([`${left} more wait in the inbox.`])] : []),
  ]);
}

function linesOf({ tool, hint, user, expiresAt }: Confirmation): string {
  const asked = `Asked by ${oneLine(user, MOST_NAME)}${expiresAt === undefined ? "" : ` · expires ${expiresAt}`}`;
  return [oneLine(tool, MOST_NAME), oneLine(hint, MOST_HINT), asked].filter((line) => line !== "").join("\n");
}

function opening({ id }: Confirmation, linkFor: Notice["linkFor"]): Block {
  const url = linkFor?.(id);
  if (url === undefined || !/^https?:/.test(url)) return {};
  return { accessory: { type: "button", action_id: "open", text: plain("Open in the inbox"), url } };
}

import { CountersignError } from "../../protocol/index.ts";
import { ledgerId } from "../archives/index.ts";
import { headText, seal, toAuditParts } from "../audit/index.ts";
import type { EngineParts } from "../parts.ts";
import { RunLease } from "../retention/index.ts";
import { type Receipt, signedText, signReceipt } from "./format.ts";
import { type KnownPlace, type Place, readPlace, writePlace } from "./place.ts";
import { isSignedWith, type SigningKey, signingKey } from "./signing-key.ts";

/** What became of a receipt. */
export type Kept =
  | {
      readonly ok: true;
      /** It is there, and the operator must know something. */
      readonly warning?: string;
    }
  | {
      readonly ok: false;
      /** For the operator; must not contain a secret. */
      readonly reason: string;
    };

/** Where the receipts of one series are kept. */
export interface ReceiptTarget {
  /** Tells the series from others of this ledger. */
  readonly name: string;
  /**
   * Keeps a receipt. Resolves to success only once it is safe there. The same one may come again, after a crash; it must
   * end in half a minute.
   */
  keep(receipt: Receipt, signal: AbortSignal | undefined): Promise<Kept>;
}

/** How receipts are published. */
export interface PublishOptions {
  readonly targets: readonly ReceiptTarget[];
  /** Only for targets whose last receipt is this old. Absent: for all, now. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
  readonly onPublished?: (receipt: Receipt) => void;
  readonly onFailed?: (target: string, reason: string) => void;
  readonly onWarning?: (target: string, warning: string) => void;
}

/** What was published. `elsewhere`: another process does it now. */
export interface PublishRun {
  readonly published: number;
  readonly failed: number;
  readonly ended: "done" | "stopped" | "elsewhere";
}

/** How soon what failed is tried again. */
const RETRY_MS = 60_000;

/**
 * Gives each target that is due a receipt of the journal as it is now, in one process at a time. A receipt is signed and
 * stored before it is sent: a process that dies meanwhile leaves one that the next run sends again, and no gap.
 */
export async function publishReceipts(parts: EngineParts, options: PublishOptions): Promise<PublishRun> {
  const key = signingKey(signingSecret(parts));
  await parts.ready();
  if (!(await isAnyDue(parts, options))) return { published: 0, failed: 0, ended: "done" };
  const run = (lease: RunLease): Promise<PublishRun> => new Publisher(parts, options, key).run(lease);
  return (await RunLease.during(parts, "receipts", run)) ?? { published: 0, failed: 0, ended: "elsewhere" };
}

/** Throws `invalid-option` if there is none: what anybody can make proves nothing. */
export function signingSecret({ secret }: Pick<EngineParts, "secret">): string {
  if (secret !== undefined) return secret;
  throw new CountersignError(
    "invalid-option",
    "Receipts are signed with COUNTERSIGN_SECRET, which is not set. A ledger has a secret from the beginning, or none.",
    { details: { option: "secret" } },
  );
}

/** Nobody needs the lease to see that there is nothing to do. */
async function isAnyDue({ ledger }: EngineParts, { targets, everyMs }: PublishOptions): Promise<boolean> {
  for (const { name } of targets) {
    const { place } = await readPlace(ledger.items, name);
    if (isDue(place, ledger.now, everyMs) || mayRetry(place, ledger.now, everyMs)) return true;
  }
  return false;
}

function isDue({ at, pending }: Place, now: number, everyMs: number | undefined): boolean {
  if (pending !== undefined) return false;
  // A time ahead means that the clock was set back.
  return everyMs === undefined || at === undefined || now >= at + everyMs || at > now;
}

function mayRetry({ pending, failedAt }: Place, now: number, everyMs: number | undefined): boolean {
  if (pending === undefined) return false;
  return everyMs === undefined || failedAt === undefined || now >= failedAt + RETRY_MS || failedAt > now;
}

class Publisher {
  readonly #parts: EngineParts;
  readonly #options: PublishOptions;
  readonly #key: SigningKey;
  #published = 0;
  #failed = 0;

  constructor(parts: EngineParts, options: PublishOptions, key: SigningKey) {
    this.#parts = parts;
    this.#options = options;
    this.#key = key;
  }

  async run(lease: RunLease): Promise<PublishRun> {
    for (const target of this.#options.targets) {
      if (!(await lease.goesOn(this.#options.signal)))
        return { published: this.#published, failed: this.#failed, ended: "stopped" };
      await this.#serve(target);
    }
    return { published: this.#published, failed: this.#failed, ended: "done" };
  }

  async #serve(target: ReceiptTarget): Promise<void> {
    let known = await this.#read(target);
    // What was begun comes first: the series has no gaps.
    if (known.place.pending !== undefined) {
      if (!mayRetry(known.place, this.#parts.ledger.now, this.#options.everyMs)) return;
      if (!(await this.#send(target, known))) return;
      known = await this.#read(target);
    }
    if (!isDue(known.place, this.#parts.ledger.now, this.#options.everyMs)) return;
    const made = await this.#make(target, known);
    if (made !== undefined) await this.#send(target, made);
  }

  /** What stands there as a receipt and was not signed with the secret is not sent. */
  async #read({ name }: ReceiptTarget): Promise<KnownPlace> {
    const { place, version } = await readPlace(this.#parts.ledger.items, name);
    const { pending, ...rest } = place;
    if (pending === undefined || isSignedWith(this.#key.key, signedText(pending), pending.signature))
      return { place, version };
    return { place: rest, version };
  }

  /** Undefined: another process was first. */
  async #make({ name }: ReceiptTarget, { place, version }: KnownPlace): Promise<KnownPlace | undefined> {
    const { ledger } = this.#parts;
    const checkpoint = await seal(toAuditParts(this.#parts));
    const pending = signReceipt(
      {
        ledger: ledgerId(ledger.digestKey),
        target: name,
        number: place.number + 1,
        follows: place.signature,
        head: headText(checkpoint),
        commits: checkpoint?.count ?? 0,
        at: new Date(ledger.now).toISOString(),
      },
      this.#key,
    );
    return writePlace(ledger.items, name, { place: { ...place, pending }, version });
  }

  async #send(target: ReceiptTarget, { place, version }: KnownPlace): Promise<boolean> {
    const { pending, failedAt: _before, ...rest } = place;
    if (pending === undefined) return true;
    const { ledger } = this.#parts;
    const { signal, onPublished, onFailed, onWarning } = this.#options;
    const kept = await target.keep(pending, signal);
    const { number, signature } = pending;
    const next: Place = kept.ok
      ? { number, signature, at: Date.parse(pending.at) }
      : { ...rest, pending, failedAt: ledger.now };
    // If another process has noted it meanwhile, it sent the same receipt.
    await writePlace(ledger.items, target.name, { place: next, version });
    if (kept.ok) {
      this.#published += 1;
      onPublished?.(pending);
      if (kept.warning !== undefined) onWarning?.(target.name, kept.warning);
    } else {
      this.#failed += 1;
      onFailed?.(target.name, kept.reason);
    }
    return kept.ok;
  }
}

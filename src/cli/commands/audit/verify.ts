import {
  type ArchiveVerification,
  besideLedger,
  type Engine,
  isReceiptKey,
  type NamedLines,
  parseHead,
  type ReceiptVerification,
  receiptKeyOf,
  type Verification,
  verifyArchives,
  verifyReceipts,
} from "../../../engine/index.ts";
import { CountersignError } from "../../../protocol/index.ts";
import { printArchives, printReceipts, printVerification } from "../../audit/print-verification.ts";
import { type Command, type Invocation, LEDGER_FLAG } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import { inert } from "../../output.ts";
import { Progress } from "../../progress.ts";
import { withEngine } from "../../wiring.ts";

export const auditVerify: Command = {
  usage: "[FILE…] [--ledger] [--head HEAD] [--receipts FILE [--key KEY]]",
  about:
    "Recomputes every chain and every checkpoint, and lists what this check cannot detect. With --head, a value " +
    "that `audit head` printed earlier and you stored elsewhere, it also detects truncation. With FILEs, it " +
    "checks files that `audit archive` wrote, without the ledger; add --ledger to check both, and that they agree. With " +
    "--receipts, it checks a file of published receipts (see `audit publish`), and that the journal still contains what each " +
    "receipt says; add --key to check the receipts without the ledger and without the secret.",
  words: { names: ["FILE"], optional: true, many: true },
  flags: {
    head: { type: "string", value: "HEAD", help: "a head that `audit head` printed" },
    ledger: { type: "boolean", help: "with FILEs: check the ledger too, and that it agrees with them" },
    receipts: { type: "string", value: "FILE", help: "receipts that were published earlier" },
    key: {
      type: "string",
      value: "KEY",
      help: "with --receipts: check only them, with the public key that `audit key` printed",
    },
    ...LEDGER_FLAG,
  },
  examples: [
    { line: "audit verify", says: "checks everything" },
    {
      line: "audit verify --head 12:wmFl0z5nd2b…",
      says: "also checks that the journal still contains this head",
    },
    { line: "audit verify archive/*.gz", says: "checks archive files without the ledger" },
    { line: "audit verify archive/*.gz --ledger", says: "checks both, and that they agree" },
    {
      line: "audit verify --receipts worm.jsonl",
      says: "checks that the journal has what these receipts say",
    },
  ],
  async run(invocation) {
    const { flags, words } = invocation;
    const asked = readFlags(invocation);
    const [receipts] = asked.receipts === undefined ? [] : await receiptFile(asked.receipts);
    if (asked.key !== undefined && receipts !== undefined)
      return print(invocation, { receipts: await verifyReceipts([receipts], { key: asked.key }) });
    if (words.length > 0 && !flags.has("ledger"))
      return print(invocation, {
        archives: await verifyArchives(await archiveFiles(words), { secret: secretOf(invocation) }),
      });
    return withEngine(invocation, async (engine) => {
      const checked = receipts && (await verifyReceipts([receipts], besideEngine(engine, invocation)));
      const head = asked.head ?? checked?.newest?.head;
      const ledger = await verifyLedger(engine, head);
      if (words.length === 0)
        return print(invocation, { ledger, ...(checked === undefined ? {} : { receipts: checked }) });
      const archives = await verifyArchives(await archiveFiles(words), {
        secret: secretOf(invocation),
        beside: await besideLedger(engine.ledger),
      });
      return print(invocation, { ledger, archives, ...(checked === undefined ? {} : { receipts: checked }) });
    });
  },
};

interface Asked {
  readonly head?: string;
  readonly receipts?: string;
  readonly key?: string;
}

/** Throws `malformed-request` for flags that do not go together. */
function readFlags(invocation: Invocation): Asked {
  const { flags, words } = invocation;
  if (words.length === 0 && flags.has("ledger"))
    throw malformed("ledger", "--ledger needs FILEs to compare the ledger with.");
  const head = flags.text("head");
  const isUsed = words.length === 0 || flags.has("ledger");
  if (isUsed && head !== undefined && parseHead(head) === undefined)
    throw malformed(
      "head",
      `--head: "${inert(head, 80)}" is not a head. \`countersign audit head\` prints one: a number, a colon and 43 characters. Copy all of it.`,
    );
  return { ...(head === undefined ? {} : { head }), ...readReceiptFlags(invocation) };
}

function readReceiptFlags({ flags, words }: Invocation): Pick<Asked, "receipts" | "key"> {
  const [receipts, key] = [flags.text("receipts"), flags.text("key")];
  if (receipts !== undefined && words.length > 0 && !flags.has("ledger"))
    throw malformed("receipts", "--receipts with FILEs needs --ledger: both are compared with the ledger.");
  if (key === undefined) return receipts === undefined ? {} : { receipts };
  if (receipts === undefined || words.length > 0)
    throw malformed("key", "--key needs --receipts FILE, and no other FILEs.");
  if (!isReceiptKey(key))
    throw malformed("key", `--key: "${inert(key, 80)}" is not a key. \`countersign audit key\` prints one.`);
  return { receipts, key };
}

function malformed(field: string, message: string): CountersignError {
  return new CountersignError("malformed-request", message, { details: { field } });
}

interface Checked {
  readonly ledger?: Verification;
  readonly archives?: ArchiveVerification;
  readonly receipts?: ReceiptVerification;
}

/** Resolves to the exit code. As JSON, a single result is printed as it is. */
function print(invocation: Invocation, { ledger, archives, receipts }: Checked): number {
  const { output, flags } = invocation;
  const results = [ledger, archives, receipts].filter((result) => result !== undefined);
  const ok = results.every((result) => result.ok);
  if (flags.has("json")) {
    const [only, second] = results;
    output.json(second === undefined ? { ...only } : { ok, ledger, archives, receipts });
    return ok ? EXIT.ok : EXIT.failed;
  }
  const blocks = [
    ledger && (() => printVerification(invocation, ledger)),
    archives && (() => printArchives(invocation, archives)),
    receipts && (() => printReceipts(invocation, receipts)),
  ].filter((block) => block !== undefined);
  for (const [i, block] of blocks.entries()) {
    if (i > 0) output.line();
    block();
  }
  return ok ? EXIT.ok : EXIT.failed;
}

async function verifyLedger(engine: Engine, head: string | undefined): Promise<Verification> {
  const progress = new Progress();
  const onRecords = (records: number): void => progress.show(`${records} records checked …`);
  return engine.verify({ ...(head === undefined ? {} : { head }), onRecords }).finally(() => progress.end());
}

/** Receipts need the key of the ledger's own secret: there are none of a ledger without one. */
function besideEngine({ ledger }: Engine, invocation: Invocation): Parameters<typeof verifyReceipts>[1] {
  const secret = secretOf(invocation);
  return { ledger, ...(secret === undefined ? {} : { key: receiptKeyOf(secret) }) };
}

// Loaded only where they are needed: most who verify have a ledger and no files.
async function archiveFiles(words: readonly string[]): Promise<readonly NamedLines[]> {
  const { archiveFileLines } = await import("../../../retention/index.ts");
  return words.map((name) => ({ name, lines: archiveFileLines(name) }));
}

async function receiptFile(name: string): Promise<readonly [NamedLines]> {
  const { receiptFileLines } = await import("../../../receipts/index.ts");
  return [{ name, lines: receiptFileLines(name) }];
}

function secretOf({ env }: Pick<Invocation, "env">): string | undefined {
  return env["COUNTERSIGN_SECRET"] || undefined;
}

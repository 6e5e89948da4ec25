import { type JournalBodies, type JournalKind, parseEntry } from "../journal/index.ts";
import type { ConfirmationRecord, JournalRecord, Ledger, PolicyNote } from "../ledger/index.ts";
import type { Fact } from "./day.ts";

type Reading = Pick<Ledger, "load">;
type Read<Kind extends JournalKind> = (
  ledger: Reading,
  body: JournalBodies[Kind],
  at: number,
) => Promise<Fact | undefined>;

/** What is counted of a record; undefined of most. What was erased, or cannot be read, is not counted. */
export async function factOf(ledger: Reading, record: JournalRecord): Promise<Fact | undefined> {
  const entry = parseEntry(record);
  if (entry.state !== "readable") return undefined;
  const read = READ[entry.kind] as Read<JournalKind> | undefined;
  return read?.(ledger, entry.body, record.at);
}

const READ: { readonly [kind in JournalKind]?: Read<kind> } = {
  "confirmation-requested": async (_ledger, { app, tool, policy = [] }) => ({
    app,
    tool,
    what: ["asked"],
    askedBy: sourcesIn(policy),
  }),
  "confirmation-approved": async (ledger, { confirmation, by, amended }, at) => {
    const asked = await find(ledger, confirmation);
    return (
      asked && {
        ...decidedBy(asked, by.id, at),
        what: [
          "approved",
          ...(amended === undefined ? [] : (["amended"] as const)),
          ...(isFilled(asked) ? (["filled"] as const) : []),
        ],
      }
    );
  },
  "confirmation-denied": async (ledger, { confirmation, by }, at) => {
    const asked = await find(ledger, confirmation);
    return asked && { ...decidedBy(asked, by.id, at), what: ["denied"] };
  },
  "confirmation-expired": async (ledger, { confirmation }) => {
    const asked = await find(ledger, confirmation);
    return asked && { app: asked.app, tool: asked.tool, what: ["expired"] };
  },
  "confirmation-cancelled": async (ledger, { confirmation }) => {
    const asked = await find(ledger, confirmation);
    return asked && { app: asked.app, tool: asked.tool, what: ["cancelled"] };
  },
  "call-unknown": async (ledger, { call: id, tool }) => {
    const { call } = (await ledger.load({ call: id })) ?? {};
    return call && { app: call.app, tool, what: ["unknown"] };
  },
};

function decidedBy(asked: ConfirmationRecord, approver: string, at: number): Omit<Fact, "what"> {
  const { app, tool, requestedAt } = asked;
  return { app, tool, approver, tookMs: Math.max(0, at - requestedAt) };
}

/** Somebody had to say more than yes. */
function isFilled({ shown, votes }: ConfirmationRecord): boolean {
  return shown.askedByTool === true || votes.some(({ payload }) => payload !== undefined);
}

async function find(ledger: Reading, id: string): Promise<ConfirmationRecord | undefined> {
  return (await ledger.load({ confirmation: id }))?.confirmation;
}

/** The ids of the rules that asked; `""` for anything else. A reason is free text, and would outlive its erasure here. */
function sourcesIn(notes: readonly PolicyNote[]): readonly string[] {
  const rules = notes.flatMap(({ rules: spoken }) =>
    spoken
      .filter(({ outcome, observe }) => outcome === "confirm" && observe !== true)
      .map(({ rule = "" }) => rule),
  );
  return rules.length === 0 ? [""] : rules;
}

import {
  CALL_TRANSITIONS,
  CONFIRMATION_TRANSITIONS,
  type ShownStatus,
  shownStatus,
} from "../../../lifecycle/lifecycle.ts";
import type { Write } from "../../commit.ts";
import type { Ledger } from "../../ledger.ts";
import type { ConfirmationFilter } from "../../lists.ts";
import type { CallStatus } from "../../records/call-record.ts";
import type { ConfirmationStatus } from "../../records/confirmation-record.ts";
import { buildFrame, buildQuestion, nameIn, questionId, SessionWriter } from "../build.ts";
import { checkEqual } from "../check.ts";
import type { LedgerCase } from "../subject.ts";

const CONFIRMATIONS = Object.keys(CONFIRMATION_TRANSITIONS) as ConfirmationStatus[];
const CALLS = Object.keys(CALL_TRANSITIONS) as CallStatus[];
const SHOWN: readonly ShownStatus[] = [...CONFIRMATIONS, "executing", "succeeded", "failed", "unknown"];

async function idsOf(ledger: Ledger, filter: ConfirmationFilter, limit = 100): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await ledger.confirmations(filter, cursor === undefined ? { limit } : { limit, cursor });
    ids.push(...page.items.map(({ confirmation }) => nameIn(confirmation.id)));
    cursor = page.next;
  } while (cursor !== undefined);
  return ids;
}

function ask(id: string, frame: string, turn: number, status: ConfirmationStatus = "requested"): Write[] {
  return buildQuestion("s1", id, { call: { frame, turn }, confirmation: { status } });
}

export const filterCases: readonly LedgerCase[] = [
  {
    name: "a status leaves those that are shown in it, whatever the confirmation and its call say for themselves",
    async run({ open }) {
      const ledger = await open();
      const all = CONFIRMATIONS.flatMap((confirmation) => CALLS.map((call) => ({ confirmation, call })));
      const shown = new Map<string, ShownStatus>();
      for (const [i, { confirmation, call }] of all.entries()) {
        const key = i % 2 === 0 ? "even" : "odd";
        const id = `c${String(i).padStart(3, "0")}`;
        shown.set(id, shownStatus(confirmation, call));
        const writer = new SessionWriter(ledger, `${id}-${key}`);
        await writer.commit(
          buildQuestion(writer.key, id, {
            call: { status: call },
            confirmation: { status: confirmation, tool: key },
          }),
        );
      }
      const wanted: readonly (readonly ShownStatus[])[] = [
        ...SHOWN.map((status) => [status]),
        ["executing", "unknown"],
        ["approved", "cancelled", "requested"],
        [],
      ];
      for (const status of wanted) {
        const fits = [...shown].filter(([, word]) => status.includes(word)).map(([id]) => id);
        const closed = fits.filter((id) => shown.get(id) !== "requested").reverse();
        const what = status.join("+");
        const opened = fits.filter((id) => shown.get(id) === "requested");
        checkEqual(await idsOf(ledger, { state: "open", status }), opened, `open, ${what}`);
        checkEqual(await idsOf(ledger, { state: "closed", status }), closed, `closed, ${what}`);
        checkEqual(await idsOf(ledger, { state: "closed", status }, 2), closed, `${what}, by pages of two`);
        const odd = closed.filter((id) => Number(id.slice(1)) % 2 === 1);
        checkEqual(await idsOf(ledger, { state: "closed", status, tool: "odd" }), odd, `${what} of a tool`);
        const [first] = closed;
        if (first === undefined) continue;
        const session = `${first}-${Number(first.slice(1)) % 2 === 0 ? "even" : "odd"}`;
        checkEqual(
          await idsOf(ledger, { state: "closed", status, session }),
          [first],
          `${what} of a session`,
        );
      }
    },
  },
  {
    name: "every question about a call that runs is shown as executing, the earlier ones too",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const [insert, question] = buildQuestion("s1", "c1", {
        call: { status: "executing", attempt: 1, owner: "o", confirmation: questionId("s1", "c2") },
        confirmation: { status: "approved" },
      });
      const again = buildQuestion("s1", "c1", {
        confirmation: { id: questionId("s1", "c2"), round: 1, status: "approved" },
      });
      await writer.commit([insert, question, again[1]].filter((write) => write !== undefined));
      const status = ["executing"] as const;
      checkEqual(await idsOf(ledger, { state: "closed", status }), ["c2", "c1"], "both");
    },
  },
  {
    name: "a turn leaves the questions about its own calls, of the newest turn and of earlier ones",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([
        {
          kind: "frame-insert",
          frame: buildFrame("s1", "f", { turn: 2, calls: ["s1.call-c3", "s1.call-c4"] }),
        },
        { kind: "frame-insert", frame: buildFrame("s1", "g", { turn: 2, calls: ["s1.call-c5"] }) },
        ...ask("c1", "s1.f", 1, "denied"),
        ...ask("c2", "s1.f", 1),
        ...ask("c3", "s1.f", 2),
        ...ask("c4", "s1.f", 2, "approved"),
        ...ask("c5", "s1.g", 2),
        ...buildQuestion("s1", "lone"),
      ]);
      const turns: readonly (readonly [turn: string, open: string, closed: string])[] = [
        ["s1.f.1", "c2", "c1"],
        ["s1.f.2", "c3", "c4"],
        ["s1.g.2", "c5", ""],
        ["s1.call-lone", "lone", ""],
        // A call of a model has its turn's name, not its own.
        ["s1.call-c5", "", ""],
        ["s1.f.3", "", ""],
        ["s1.f", "", ""],
        ["none.1", "", ""],
        ["", "", ""],
      ];
      for (const [turn, opened, closed] of turns) {
        checkEqual((await idsOf(ledger, { state: "open", turn })).join(), opened, `open in ${turn}`);
        checkEqual((await idsOf(ledger, { state: "closed", turn })).join(), closed, `closed in ${turn}`);
      }
      const turn = "s1.f.2";
      checkEqual(await idsOf(ledger, { state: "open", turn, session: "s1" }), ["c3"], "of its session");
      checkEqual(await idsOf(ledger, { state: "open", turn, session: "s2" }), [], "of another session");
      checkEqual(await idsOf(ledger, { state: "open", turn, tool: "refund" }), [], "of another tool");
    },
  },
];

import { fileURLToPath } from "node:url";
import { ManualClock, OutcomeUnknown } from "../../../src/engine/index.ts";
import { tool } from "../../../src/index.ts";
import { McpToolset } from "../../../src/mcp/index.ts";
import type { Resources } from "../resources.ts";
import type { useBrowser } from "./browser.ts";
import { type InboxPage, type InboxPageOptions, openInbox } from "./inbox-page.ts";
import {
  type InboxServer,
  type InboxServerOptions,
  startInboxServer,
  type WantedCall,
} from "./inbox-server.ts";
import { isPictured } from "./look.ts";

const MINUTE = 60_000;
export const NOW: number = Date.UTC(2026, 10, 16, 9, 30);

export const ASK_USER = {
  name: "ask_user",
  args: {
    questions: [
      { question: "Which region should it run in?", choices: ["Frankfurt (eu)", "Ohio (us)"] },
      { question: "Which add-ons do you want?", choices: ["Backup", "Audit log"], multiple: true },
      { question: "Anything else that matters?" },
    ],
  },
};
export const TRIP = {
  name: "reimburse",
  args: {
    amount: 2500,
    currency: "EUR",
    purpose: "Team offsite in Lisbon",
    receipts: ["hotel.pdf", "flight.pdf"],
  },
};
export const MAIL = {
  name: "send_email",
  args: { to: "finance@corp.example", subject: "Offsite", body: "Please book it under travel." },
};
const LETTER = {
  name: "send_email",
  args: {
    to: "everyone@corp.example",
    subject: "The new travel policy, which replaces the one of last year",
    body: "Dear all, from January on every trip is booked through the desk.\n".repeat(40),
    headers: { list: { unsubscribe: { mailto: "off@corp.example" } } },
  },
};
const EDIT = {
  name: "edit_file",
  args: {
    path: "config/limits.yaml",
    old_text: "daily: 100\nweekly: 500",
    new_text: "daily: 1000\nweekly: 500",
  },
};

const gated = {
  description: "Does it.",
  parameters: { type: "object", properties: {} },
  requireConfirmation: true,
} as const;
const FULL = tool({
  ...gated,
  name: "archive_report",
  execute: () => {
    throw new Error("The archive is full.");
  },
});
const LOST = tool({
  ...gated,
  name: "pay_invoice",
  execute: () => {
    throw new OutcomeUnknown("The connection was lost after the request was sent.");
  },
});

/** What waits or has ended in a fixed inbox, by what it is there to show. */
export type Shown = Readonly<
  Record<
    | "simple"
    | "long"
    | "diff"
    | "form"
    | "amendable"
    | "nested"
    | "hold"
    | "questions"
    | "server"
    | "others"
    | "unknown"
    | "expired"
    | "failed",
    string
  >
>;

/** An office at a time that stands still, with numbers instead of random ids, so that a picture is always the same. */
export interface FixedTimeServer extends InboxServer {
  readonly clock: ManualClock;
  /** People write sentences, and that is what a picture should show. Gives the first of what waits then. */
  readonly askFor: (user: string, words: string, ...calls: readonly WantedCall[]) => Promise<string>;
}

export async function startFixedTimeServer(
  resources: Resources,
  {
    startAt = NOW,
    ...options
  }: Omit<InboxServerOptions, "clock" | "ids"> & { readonly startAt?: number } = {},
): Promise<FixedTimeServer> {
  const clock = new ManualClock(startAt);
  let count = 0;
  const ids = (): string => String(++count).padStart(6, "0");
  const server = await startInboxServer(resources, { ...options, clock, ids });
  return {
    ...server,
    clock,
    askFor: async (user, words, ...calls) => {
      server.teach(words, ...calls);
      return (await server.runner.send(words, { user, session: `s-${ids()}` })).pending[0]?.id ?? "";
    },
  };
}

/** An office in which something of every state waits or has ended. */
export async function startFixedTimeInbox(
  resources: Resources,
): Promise<InboxServer & { readonly shown: Shown }> {
  const files = new McpToolset({
    name: "filesystem-server",
    server: {
      command: process.execPath,
      args: [
        fileURLToPath(
          new URL("../../../examples/agents/file_manager/filesystem-server.mjs", import.meta.url),
        ),
      ],
      env: { FILES_FOLDER: await resources.folder() },
    },
    toolNames: ["delete_file"],
    requireApproval: ["delete_file"],
  });
  resources.add(() => files.close());
  const {
    clock,
    askFor: ask,
    ...inboxServer
  } = await startFixedTimeServer(resources, { startAt: NOW - 90 * MINUTE, tools: [files, FULL, LOST] });
  const expired = await ask("ben", "I took a taxi to the airport, 60 EUR.", {
    name: "reimburse",
    args: { amount: 60, purpose: "Taxi to the airport" },
  });
  const earlier = await ask("ana", "My train to Porto was 180 EUR.", {
    name: "reimburse",
    args: { amount: 180, purpose: "Train to Porto" },
  });
  await (await inboxServer.runner.approve(earlier, { by: { id: "grace" } })).finished;
  const unknown = await ask("ben", "Pay Printer Ltd the 90 EUR we owe them.", {
    name: "pay_invoice",
    args: { amount: 90, currency: "EUR", to: "Printer Ltd" },
  });
  await (await inboxServer.runner.approve(unknown, { by: { id: "grace" } })).finished;
  const failed = await ask("cleo", "We no longer need the report of 2024.", {
    name: "archive_report",
    args: { path: "reports/2024.csv" },
  });
  await (await inboxServer.runner.approve(failed, { by: { id: "grace" } })).finished;
  await clock.advance(86 * MINUTE);
  await inboxServer.runner.work({ once: true });
  const shown = {
    simple: await ask("ana", "Reimburse my trip to Lisbon, and tell finance.", TRIP, MAIL),
    diff: await ask("ben", "Raise the daily limit to 1000.", EDIT),
    form: await ask("cleo", "I would like to take five days off.", {
      name: "grant_leave",
      args: { employee: "cleo", days: 5 },
    }),
    amendable: await ask("ben", "Everybody in the new office needs a laptop stand.", {
      name: "order",
      args: { item: "Laptop stand", quantity: 40 },
    }),
    nested: await ask("dora", "Let the clerk file the audit of the third quarter.", {
      name: "clerk",
      args: { request: "file it" },
    }),
    server: await ask("ben", "Clean up the old reports.", {
      name: "delete_file",
      args: { path: "reports/2025.csv" },
    }),
    questions: await ask("cleo", "Set up the new database.", ASK_USER),
    long: await ask("ana", "Tell everyone about the new travel policy.", LETTER),
    hold: await ask("dora", "We are out of disk space. Remove last night's backup.", {
      name: "delete_backup",
      args: { name: "nightly-2026-11-15" },
    }),
    others: await ask("local", "Pay the deposit for the venue.", {
      name: "wire_money",
      args: { amount: 9000, to: "DE89 3704 0044 0532 0130 00" },
    }),
    unknown,
    expired,
    failed,
  };
  await clock.advance(4 * MINUTE);
  return { ...inboxServer, shown };
}

/** A page in which it is always the same time, and nothing moves by itself. */
export async function openFixedTimePage(
  resources: Resources,
  options: { readonly newPage: ReturnType<typeof useBrowser>; readonly url: string } & InboxPageOptions,
): Promise<InboxPage> {
  return openInbox(resources, {
    reducedMotion: "reduce",
    timezoneId: "Europe/Lisbon",
    locale: "en-GB",
    // Sharp where somebody looks at it; what is measured is the same at both.
    deviceScaleFactor: isPictured ? 2 : 1,
    ...options,
    prepare: async (page) => {
      await options.prepare?.(page);
      await page.clock.setFixedTime(NOW);
      // The page sets its clock by the server's answer, whose date is the machine's.
      await page.route("**/v1/me", async (route) => {
        const answer = await route.fetch();
        const headers = { ...answer.headers(), date: new Date(NOW).toUTCString() };
        await route.fulfill({ response: answer, headers });
      });
      // A process and a machine that are the same in every picture.
      await page.route("**/v1/confirmations/*/context", async (route) => {
        const answer = await route.fetch();
        const text = (await answer.text())
          .replaceAll(/"pid":\d+/g, '"pid":4711')
          .replaceAll(/"host":"[^"]*"/g, '"host":"worker-1"');
        await route.fulfill({ response: answer, body: text });
      });
    },
  });
}

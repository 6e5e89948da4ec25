import { fileURLToPath } from "node:url";
import { ManualClock } from "../../../src/engine/index.ts";
import { McpToolset } from "../../../src/mcp/index.ts";
import type { Resources } from "../resources.ts";
import type { useBrowser } from "./browser.ts";
import { type InboxPage, type InboxPageOptions, openInbox } from "./inbox-page.ts";
import { type InboxServer, startInboxServer } from "./inbox-server.ts";

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 16, 9, 30);

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

/** An inbox at a time that stands still, with names instead of random ids, so that a picture is always the same. */
export async function startFixedTimeInbox(
  resources: Resources,
): Promise<InboxServer & { readonly shown: Shown }> {
  const clock = new ManualClock(NOW - 90 * MINUTE);
  let count = 0;
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
  const inboxServer = await startInboxServer(resources, {
    clock,
    ids: () => String(++count).padStart(6, "0"),
    tools: [files],
  });
  const one = async (user: string, name: string, args: WantedArgs): Promise<string> =>
    (await inboxServer.ask(user, { name, args }))[0] ?? "";
  const expired = await one("ben", "reimburse", { amount: 60, purpose: "Taxi to the airport" });
  const earlier = await one("ana", "reimburse", { amount: 180, purpose: "Train to Porto" });
  await (await inboxServer.runner.approve(earlier, { by: { id: "grace" } })).finished;
  const unknown = await one("ben", "explode", { amount: 90, to: "Printer Ltd" });
  await (await inboxServer.runner.approve(unknown, { by: { id: "grace" } })).finished;
  const failed = await one("cleo", "delete_file", { path: "reports/2024.csv" });
  await (await inboxServer.runner.approve(failed, { by: { id: "grace" } })).finished;
  await clock.advance(86 * MINUTE);
  await inboxServer.runner.work({ once: true });
  const [simple = ""] = await inboxServer.ask("ana", TRIP, MAIL);
  const shown = {
    simple,
    diff: (await inboxServer.ask("ben", EDIT))[0] ?? "",
    form: await one("cleo", "grant_leave", { employee: "cleo", days: 5 }),
    amendable: await one("ben", "order", { item: "Laptop stand", quantity: 40 }),
    nested: await one("dora", "clerk", { request: "file it" }),
    server: await one("ben", "delete_file", { path: "reports/2025.csv" }),
    questions: (await inboxServer.ask("cleo", ASK_USER))[0] ?? "",
    long: (await inboxServer.ask("ana", LETTER))[0] ?? "",
    hold: await one("dora", "delete_backup", { name: "nightly-2026-11-15" }),
    others: await one("local", "wire_money", { amount: 9000, to: "DE89 3704 0044 0532 0130 00" }),
    unknown,
    expired,
    failed,
  };
  await clock.advance(4 * MINUTE);
  return { ...inboxServer, shown };
}

type WantedArgs = Parameters<InboxServer["ask"]>[1]["args"];

/** A page in which it is always the same time, and nothing moves by itself. */
export async function openFixedTimePage(
  resources: Resources,
  options: { readonly newPage: ReturnType<typeof useBrowser>; readonly url: string } & InboxPageOptions,
): Promise<InboxPage> {
  return openInbox(resources, {
    reducedMotion: "reduce",
    timezoneId: "Europe/Lisbon",
    locale: "en-GB",
    deviceScaleFactor: 2,
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
    },
  });
}

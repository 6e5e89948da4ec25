import { expect, test } from "vitest";
import { type HeldQuestions, holdQuestions } from "../../../test/support/channels/held-questions.ts";
import { type Crash, dyingStore } from "../../../test/support/ledger/dying-store.ts";
import { MailServer } from "../../../test/support/mail/mail-server.ts";
import { useResources } from "../../../test/support/resources.ts";
import { type Ledger, toldPeople } from "../../engine/index.ts";
import type { Channel } from "../channel.ts";
import { createEmailChannel } from "./email-channel.ts";

const signal = new AbortController().signal;
const resources = useResources();
const MOST_WRITES = 40;
const LATER_MS = 60_000;

async function startServer(): Promise<MailServer> {
  const server = await new MailServer().listen();
  resources.add(() => server.close());
  return server;
}

function createMail(server: MailServer, ledger: Ledger): Channel {
  const people = [{ id: "ana", email: "ana@example.com" }];
  return createEmailChannel({ ledger, smtp: server.url, from: "approvals@example.com", people });
}

/** Tells of all questions again and again, until all are told. */
async function tellAll({ ledger, clock, notices }: HeldQuestions, server: MailServer): Promise<void> {
  const left = new Set(notices);
  for (let tries = 0; left.size > 0; tries += 1) {
    if (tries > 20) throw new Error("It is never told.");
    for (const notice of left)
      if ((await createMail(server, ledger).tell(notice, signal)).ok) left.delete(notice);
    await clock.advance(LATER_MS);
  }
}

function subjectsIn({ received }: MailServer): readonly string[] {
  const mails = new Map(
    received.map(({ headers }) => [headers.get("message-id")?.[0], headers.get("subject")?.[0]]),
  );
  return [...mails.values()].map(String);
}

test("what was held back is one mail with a link to each, and who was told is known of each", async () => {
  const server = await startServer();
  const held = await holdQuestions(resources, ["pay", "wire", "<b>wipe\u202E"]);
  await tellAll(held, server);
  await tellAll(held, server);
  expect(subjectsIn(server)).toEqual(["3 calls wait for your decision"]);
  const [text = "", html = ""] = server.received[0]?.parts ?? [];
  for (const { about, link = "" } of held.notices) {
    expect(text).toContain(link);
    expect(html).toContain(link);
    const told = await toldPeople(held.ledger, "id" in about ? about.id : "");
    expect(told).toMatchObject([{ channel: "email", person: "ana", state: "sent" }]);
  }
  expect(html).not.toContain("<b>");
  expect(text).not.toContain("\u202E");
});

test("a question that was decided meanwhile is not in it, and one that waits alone has a mail of its own", async () => {
  const server = await startServer();
  const held = await holdQuestions(resources, ["pay", "wire", "wipe"]);
  const [first, second] = held.notices.map(({ about }) => ("id" in about ? about.id : ""));
  await held.engine.deny(first ?? "", { by: { id: "ana" } });
  const [, ...open] = held.notices;
  await tellAll({ ...held, notices: open }, server);
  expect(subjectsIn(server)).toEqual(["2 calls wait for your decision"]);
  expect(server.received[0]?.parts.join("")).not.toContain(first);
  expect(server.received[0]?.parts.join("")).toContain(second);
  const other = await holdQuestions(resources, ["pay"]);
  const alone = await startServer();
  await tellAll(other, alone);
  expect(subjectsIn(alone)).toEqual(["Approval of pay"]);
});

test("a digest that the server refuses for good does not silence anybody: each question has a mail of its own", async () => {
  const server = await startServer();
  server.refuses = (subject) => subject.includes("calls wait");
  const held = await holdQuestions(resources, ["pay", "wire"]);
  await tellAll(held, server);
  await tellAll(held, server);
  expect(subjectsIn(server)).toEqual(["Approval of pay", "Approval of wire"]);
});

test("whoever was told of a question by a digest is told how it ended, once", async () => {
  const server = await startServer();
  const held = await holdQuestions(resources, ["pay", "wire"]);
  await tellAll(held, server);
  const [notice] = held.notices;
  if (notice === undefined || !("id" in notice.about)) throw new Error("There is one.");
  await held.engine.deny(notice.about.id, { by: { id: "ana" } });
  const about = { ...notice.about, status: "denied" as const };
  const ended = { ...notice, id: "msg_ended", type: "confirmation.decided", revision: 2, about } as const;
  await tellAll({ ...held, notices: [ended] }, server);
  await tellAll({ ...held, notices: [ended] }, server);
  expect(subjectsIn(server)).toEqual(["2 calls wait for your decision", "Approval of pay"]);
  expect(server.received.at(-1)?.parts[0]).toContain("Denied.");
});

test.each([true, false])(
  "a process that dies at any write leaves one mail about all that waits (committed: %s)",
  async (committed) => {
    for (let writes = 0; writes < MOST_WRITES; writes += 1) {
      const server = await startServer();
      const held = await holdQuestions(resources, ["pay", "wire"]);
      const crash: Crash = { writes, committed };
      const [notice] = held.notices;
      if (notice === undefined) throw new Error("There is one.");
      const died = await createMail(server, dyingStore(held.ledger, crash))
        .tell(notice, signal)
        .then(
          () => false,
          () => true,
        );
      await tellAll(held, server);
      expect({ writes, mails: subjectsIn(server) }).toEqual({
        writes,
        mails: ["2 calls wait for your decision"],
      });
      if (!died) return;
    }
    throw new Error("It writes more than expected.");
  },
);

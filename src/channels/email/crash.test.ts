import { join } from "node:path";
import { expect, test } from "vitest";
import { type Crash, dyingStore } from "../../../test/support/ledger/dying-store.ts";
import { MailServer } from "../../../test/support/mail/mail-server.ts";
import { useResources } from "../../../test/support/resources.ts";
import { type Confirmation, type Ledger, ManualClock } from "../../engine/index.ts";
import { createLedger } from "../../stores/index.ts";
import { buildNotice } from "../channel.contract.ts";
import type { Channel } from "../channel.ts";
import { createEmailChannel } from "./email-channel.ts";

const signal = new AbortController().signal;
const resources = useResources();
const MOST_WRITES = 40;
const LATER_MS = 60_000;

/** Tells of an escalation in a process that dies, and then again and again in others, until it is told. */
async function tellThroughCrash(server: MailServer, crash: Crash): Promise<{ readonly died: boolean }> {
  const clock = new ManualClock();
  const ledger = await createLedger(`sqlite:${join(await resources.folder(), "ledger.db")}`, { clock });
  resources.add(() => ledger.close());
  const create = (store: Ledger): Channel =>
    createEmailChannel({
      ledger: store,
      smtp: server.url,
      from: "approvals@example.com",
      people: [
        { id: "ana", email: "ana@example.com" },
        { id: "meg", email: "meg@example.com", roles: ["boss"] },
      ],
    });
  const { about } = buildNotice();
  const escalations: Confirmation["escalations"] = [
    { at: "2026-01-01T01:00:00.000Z", to: { roles: ["boss"] }, fills: [0], reached: true },
  ];
  const escalated = { ...about, escalations };
  const notice = buildNotice({ id: "msg_2", type: "confirmation.escalated", about: escalated });
  await create(ledger).tell(buildNotice(), signal);
  const died = await create(dyingStore(ledger, crash))
    .tell(notice, signal)
    .then(
      () => false,
      () => true,
    );
  for (let tries = 0; tries < 10; tries += 1) {
    if ((await create(ledger).tell(notice, signal)).ok) return { died };
    await clock.advance(LATER_MS);
  }
  throw new Error("It is never told.");
}

test.each([true, false])(
  "a process that dies at any write leaves one mail per person and notice (committed: %s)",
  async (committed) => {
    for (let writes = 0; writes < MOST_WRITES; writes += 1) {
      const server = await new MailServer().listen();
      resources.add(() => server.close());
      const { died } = await tellThroughCrash(server, { writes, committed });
      // What has the same Message-ID is one mail.
      const mails = new Map(
        server.received.map(({ to, headers }) => [
          headers.get("message-id")?.[0],
          [...to, headers.get("x-countersign-notice")?.[0], headers.has("in-reply-to")],
        ]),
      );
      expect({ writes, mails: [...mails.values()].map(String).toSorted() }).toEqual({
        writes,
        mails: ["ana@example.com,msg_1,false", "ana@example.com,msg_2,true", "meg@example.com,msg_2,false"],
      });
      if (!died) return;
    }
    throw new Error("It writes more than expected.");
  },
);

import { expect, test } from "vitest";
import { MessageBook } from "../../src/engine/index.ts";
import { giveUp, requestsIn } from "../support/ledger/failed-delivery.ts";
import { type Folder, makeFolder } from "../support/processes/command-line.ts";

const by = { id: "ana" };

/** Two questions that a webhook, and one that a pager, could tell nobody of. */
async function record(folder: Folder): Promise<readonly number[]> {
  return folder.withEngine(async (engine) => {
    const wipe = engine.gate("wipe", { requireConfirmation: true }, async () => "wiped");
    for (const disk of [1, 2]) await wipe({ disk }, { key: `disk-${disk}`, by });
    const seqs = await requestsIn(engine.ledger);
    await giveUp(engine.ledger, { seqs, reason: "HTTP 500\u001b[2J from a\nstranger" });
    await giveUp(engine.ledger, { channel: "pager", seqs: seqs.slice(0, 1), reason: "no such host" });
    return seqs;
  });
}

test("lists failed deliveries: channel, number, what it was about, since when, how often, why", async () => {
  const folder = makeFolder();
  const [first, second] = await record(folder);
  const { code, stdout } = folder.run(["deliveries"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(new RegExp(`^pager ${first}  confirmation-requested  wipe  [0-9a-z]{8}$`, "m"));
  expect(stdout).toContain(`webhook ${second}  confirmation-requested`);
  expect(stdout).toMatch(/tried once since 20\d\d-.*, given up (now|\d+s ago)/);
  expect(stdout).toContain("│ no such host");
  expect(stdout).not.toContain("\u001b[2J");
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  const { items, more } = folder.json(["deliveries", "--limit", "2"]) as {
    readonly items: readonly { readonly channel: string; readonly sequence: number }[];
    readonly more: boolean;
  };
  expect({ items, more }).toMatchObject({
    items: [
      { channel: "pager", sequence: first, tool: "wipe", attempts: 1, reason: "no such host" },
      { channel: "webhook", sequence: first },
    ],
    more: true,
  });
  expect(folder.run(["deliveries", "--limit", "2"]).stdout).toContain("There are more");
  const checked = folder.json(["doctor"]) as { readonly findings: readonly { readonly check: string }[] };
  expect(JSON.stringify(checked)).toContain("3 messages to channels could not be delivered");
});

test("says who was told of a question, by which channel, and who was not, and why", async () => {
  const folder = makeFolder();
  await record(folder);
  const id = await folder.withEngine(async ({ ledger }) => {
    const { items } = await ledger.confirmations({ state: "open" }, { limit: 1 });
    const subject = items[0]?.confirmation.id ?? "";
    await ledger.outbox.channelPlace("email");
    const book = new MessageBook(ledger.items, "email", () => ledger.now);
    for (const person of ["ana", "bob"]) {
      const claim = await book.claim(subject, person, { person });
      if (claim.next !== "send") throw new Error("It is to be sent.");
      const { message: claimed } = claim;
      const sent = { claimed, as: { ...claimed, state: "sent" } } as const;
      const not = { claimed, as: "not sent", because: "550\u001b[2J full" } as const;
      await book.note(subject, person, person === "ana" ? sent : not);
    }
    return subject;
  });
  const { code, stdout } = folder.run(["deliveries", "told", id.slice(-8)]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^20\S+ \S+ .*email {2}ana {2}told$/m);
  expect(stdout).toMatch(/email {2}bob {2}not told\n {4}│ 550/);
  expect(stdout).not.toContain("\u001b[2J");
  expect(folder.json(["deliveries", "told", id])).toMatchObject({
    items: [
      { channel: "email", person: "ana", state: "sent" },
      { person: "bob", state: "failed" },
    ],
  });
});

test("sends one again, once, and all of them", async () => {
  const folder = makeFolder();
  const [first = 0] = await record(folder);
  const one = ["deliveries", "retry", "webhook", String(first)];
  expect(folder.run(one)).toEqual({ code: 0, stdout: `Queued again: webhook ${first}.\n`, stderr: "" });
  const again = folder.run(one);
  expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 3, stdout: "" });
  expect(again.stderr).toMatch(
    /^countersign: There is no undelivered message \d+ for the channel "webhook".*\[unknown-delivery\]\n$/,
  );
  await folder.withEngine(async ({ ledger }) => {
    const due = await ledger.outbox.takeDeliveries("webhook", { limit: 10, holdMs: 1 });
    expect(due).toMatchObject([{ seq: first, attempt: 1 }]);
  });
  expect(folder.json(["deliveries", "retry", "--all"])).toEqual({ revived: 2 });
  expect(folder.run(["deliveries"]).stdout).toBe("There are no undelivered messages.\n");
  expect(folder.run(["deliveries", "retry", "--all"]).stdout).toBe("Queued again: 0.\n");
});

test.each([
  [["retry"], "needs --all, or a channel and a number"],
  [["retry", "webhook"], "needs --all, or a channel and a number"],
  [["retry", "webhook", "first"], '"first" is not a message number'],
  [["retry", "webhook", "1", "--all"], "--all or one message"],
  [["revive"], '`deliveries` does not take "revive"'],
])("`deliveries %j` is told in one line, with exit code 2", async (args, message) => {
  const folder = makeFolder();
  await folder.withEngine(async () => {});
  const { code, stdout, stderr } = folder.run(["deliveries", ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
});

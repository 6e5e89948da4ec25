import { expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/index.ts";
import { MessageBook } from "./sent-messages.ts";

const resources = useResources();
const LATER_MS = 60_000;

async function createBook(): Promise<{ readonly book: MessageBook; readonly clock: ManualClock }> {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  resources.add(() => ledger.close());
  return { clock, book: new MessageBook(ledger.items, "test", () => ledger.now) };
}

test("of several that ask about a message that may have arrived, one looks, for what came since the first attempt", async () => {
  const { book, clock } = await createBook();
  const begun = clock.now();
  expect(await book.claim("q", "ana")).toMatchObject({ next: "send" });
  for (let round = 0; round < 2; round += 1) {
    await clock.advance(LATER_MS);
    const claims = [await book.claim("q", "ana"), await book.claim("q", "ana")];
    expect(claims).toMatchObject([{ next: "look", message: { since: begun } }, { next: "wait" }]);
  }
});

test("in a thread the first notice has the first message, and every other a reply of its own", async () => {
  const { book, clock } = await createBook();
  const first = { target: "ana", isFirst: true };
  const reply = { target: "ana n2", isFirst: false };
  expect(await book.claimInThread("q", "ana", { notice: "n1" })).toMatchObject({
    ...first,
    claim: { next: "send" },
  });
  expect(await book.claimInThread("q", "ana", { notice: "n2" })).toMatchObject({
    ...reply,
    claim: { next: "send" },
  });
  await clock.advance(LATER_MS);
  expect(await book.claimInThread("q", "ana", { notice: "n1" })).toMatchObject({
    ...first,
    claim: { next: "look" },
  });
  expect(await book.claimInThread("q", "ana", { notice: "n2" })).toMatchObject({
    ...reply,
    claim: { next: "look" },
  });
});

test("a process that slept until another one claimed its message changes nothing", async () => {
  const { book, clock } = await createBook();
  const slow = await book.claim("q", "ana");
  await clock.advance(LATER_MS);
  const next = await book.claim("q", "ana");
  if (slow.next !== "send" || next.next !== "look") throw new Error("Both must have claimed it.");
  const entry = async (): Promise<unknown> => (await book.read(book.keyOf("q")))?.to["ana"];
  const late = { claimed: slow.message, as: "not sent" } as const;
  expect(await book.note("q", "ana", late)).toBe(false);
  expect(await entry()).toEqual(next.message);
  const sent = { ...next.message, state: "sent", message: "m1" } as const;
  expect(await book.note("q", "ana", { claimed: next.message, as: sent })).toBe(true);
  expect(await book.note("q", "ana", late)).toBe(false);
  expect(await entry()).toEqual(sent);
});

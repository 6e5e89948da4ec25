import { createHmac } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Received, status, WebhookReceiver } from "../../support/http/webhook-receiver.ts";
import type { Child } from "../../support/processes/child.ts";
import { useResources } from "../../support/resources.ts";
import type { TellerLine, TellerOptions } from "./webhook.program.ts";

const PROGRAM = new URL("./webhook.program.ts", import.meta.url);
const KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${KEY.toString("base64")}`;
/** Quick to try again; slow to give up on an answer, lest a busy machine look like a receiver that hangs. */
const HASTY = { firstRetryMs: 50, longestRetryMs: 400, timeoutMs: 20_000, holdMs: 60_000 };
const resources = useResources();

interface Receiver {
  readonly receiver: WebhookReceiver;
  readonly start: (over?: Partial<TellerOptions>) => Promise<Child<TellerLine>>;
}

async function startReceiver(): Promise<Receiver> {
  const receiver = await new WebhookReceiver().listen();
  resources.add(() => receiver.close());
  const ledger = join(await resources.folder(), "ledger.db");
  return {
    receiver,
    async start(over = {}) {
      const options: TellerOptions = { ledger, url: receiver.url, secret: SECRET, ...HASTY, ...over };
      const child = resources.child<TellerLine>(PROGRAM, { args: [JSON.stringify(options)] });
      await child.line("ready");
      return child;
    },
  };
}

async function ask(child: Child<TellerLine>, keys: readonly string[]): Promise<readonly string[]> {
  child.send({ do: "ask", keys });
  return (await child.line("asked")).ids;
}

interface Message {
  readonly type: string;
  readonly sequence: number;
  readonly data: { readonly id: string; readonly url: string };
}

function messageOf({ body }: Received): Message {
  return JSON.parse(body) as Message;
}

function isSigned({ id, headers, body }: Received): boolean {
  const signed = `${id}.${String(headers["webhook-timestamp"])}.${body}`;
  return headers["webhook-signature"] === `v1,${createHmac("sha256", KEY).update(signed).digest("base64")}`;
}

function keysOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `key-${i}`);
}

/** The confirmations that messages with these ids are about. */
function toldOf(received: readonly Received[], ids: ReadonlySet<string>): readonly string[] {
  const told = received.filter(({ id }) => ids.has(id)).map((each) => messageOf(each).data.id);
  return [...new Set(told)].toSorted();
}

test("a receiver that was down, fails, is busy and is slow has every message in the end, once under each id", async () => {
  const { receiver, start } = await startReceiver();
  await receiver.close();
  const child = await start();
  const ids = await ask(child, keysOf(6));
  const { reason } = await child.line("failed");
  expect(reason).toBe(`${receiver.url} could not be reached (ECONNREFUSED).`);
  const accepted = new Set<string>();
  let requests = 0;
  receiver.answer = (response, received) => {
    requests += 1;
    if (requests <= 2) status(500)(response, received);
    else if (requests === 3) status(429, { "retry-after": "1" })(response, received);
    else {
      // Slow: it answers the head at once and the rest whenever.
      response.writeHead(200);
      response.write("thank you");
      accepted.add(received.id);
    }
  };
  await receiver.listen();
  await receiver.until(() => accepted.size === 6);
  expect(receiver.received.every(isSigned)).toBe(true);
  expect(toldOf(receiver.received, accepted)).toEqual([...ids].toSorted());
  const first = receiver.received.map(messageOf).find(({ data }) => data.id === ids[0]);
  expect(first).toMatchObject({
    type: "confirmation.requested",
    data: { id: ids[0], url: `https://approvals.example/#/confirmations/${ids[0]}` },
  });
  const bySequence = [
    ...new Map(receiver.received.map(messageOf).map((each) => [each.data.id, each])).values(),
  ]
    .toSorted((a, b) => a.sequence - b.sequence)
    .map(({ data }) => data.id);
  expect(bySequence).toEqual(ids);
  child.send({ do: "stop" });
  await child.line("stopped");
});

test("a receiver that hangs is disconnected, and the message is sent again", async () => {
  const { receiver, start } = await startReceiver();
  let requests = 0;
  receiver.answer = (response, received) => {
    requests += 1;
    if (requests > 1) status(204)(response, received);
  };
  const child = await start({ timeoutMs: 300 });
  await ask(child, ["bob"]);
  expect((await child.line("failed")).reason).toBe(`${receiver.url} did not answer in time.`);
  const [first, second] = await receiver.count(2);
  expect(second?.id).toBe(first?.id);
});

test("two processes on one ledger tell each message once between them", async () => {
  const { receiver, start } = await startReceiver();
  const [one, two] = [await start(), await start()];
  const ids = [...(await ask(one, keysOf(15))), ...(await ask(two, keysOf(30).slice(15)))];
  await receiver.count(ids.length);
  for (const child of [one, two]) {
    child.send({ do: "stop" });
    await child.line("stopped");
  }
  expect(receiver.received).toHaveLength(ids.length);
  expect(receiver.received.map((each) => messageOf(each).data.id).toSorted()).toEqual(ids.toSorted());
});

test("a process killed while it sends loses nothing: another sends the same message under the same id", async () => {
  const { receiver, start } = await startReceiver();
  receiver.answer = () => {};
  const hold = { holdMs: 1_000, timeoutMs: 60_000, concurrency: 2 };
  const killed = await start(hold);
  const ids = await ask(killed, keysOf(5));
  const inHand = new Set((await receiver.count(2)).map(({ id }) => id));
  await killed.kill();
  const before = receiver.received.length;
  const accepted = new Set<string>();
  receiver.answer = (response, received) => {
    accepted.add(received.id);
    status(204)(response, received);
  };
  await start(hold);
  await receiver.until(() => accepted.size === ids.length);
  expect(toldOf(receiver.received.slice(before), accepted)).toEqual([...ids].toSorted());
  for (const id of inHand) expect(accepted.has(id)).toBe(true);
});

test("a process killed after its message arrived, and before it knew, sends it again under the same id", async () => {
  const { receiver, start } = await startReceiver();
  const hold = { holdMs: 1_000, timeoutMs: 60_000 };
  const killed = await start(hold);
  let arrived: (() => void) | undefined;
  const first = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  receiver.answer = (response, received) => {
    killed.signal("SIGKILL");
    status(204)(response, received);
    arrived?.();
  };
  await ask(killed, ["bob"]).catch(() => []);
  await first;
  await killed.ended;
  receiver.answer = status(204);
  await start(hold);
  const [one, two] = await receiver.count(2);
  expect(two?.id).toBe(one?.id);
  expect(two?.body).toBe(one?.body);
});

import { expect, test } from "vitest";
import { type HeldQuestions, holdQuestions } from "../../../test/support/channels/held-questions.ts";
import { status, WebhookReceiver } from "../../../test/support/http/webhook-receiver.ts";
import { dyingStore } from "../../../test/support/ledger/dying-store.ts";
import { createDevice } from "../../../test/support/push/device.ts";
import { useResources } from "../../../test/support/resources.ts";
import type { Ledger, Principal } from "../../engine/index.ts";
import type { Channel, Notice } from "../channel.ts";
import { createPushChannel } from "./push-channel.ts";

const signal = new AbortController().signal;
const resources = useResources();
const MOST_WRITES = 60;
const LATER_MS = 60_000;
const ANA: Principal = { id: "ana", kind: "oidc", roles: [], scopes: ["decide"], authenticated: true };

interface Scene extends HeldQuestions {
  readonly create: (ledger?: Ledger) => Channel;
  readonly tellAll: (notices: readonly Notice[]) => Promise<void>;
  /** What the device shows, each message once. */
  readonly shown: () => readonly unknown[];
}

async function startScene(tools: readonly string[]): Promise<Scene> {
  const receiver = await new WebhookReceiver().listen();
  resources.add(() => receiver.close());
  receiver.answer = status(201);
  const held = await holdQuestions(resources, tools);
  const create = (ledger: Ledger = held.ledger): Channel =>
    createPushChannel({ ledger, contact: "mailto:ops@example.com", services: [receiver.url] });
  const device = createDevice(`${receiver.url}/phone`);
  const body = Buffer.from(JSON.stringify(device.subscription));
  await create().routes?.["subscriptions"]?.({ method: "PUT", headers: new Headers(), body }, ANA);
  return {
    ...held,
    create,
    async tellAll(notices) {
      const left = new Set(notices);
      for (let tries = 0; left.size > 0; tries += 1) {
        if (tries > 20) throw new Error("It is never told.");
        for (const notice of left) if ((await create().tell(notice, signal)).ok) left.delete(notice);
        await held.clock.advance(LATER_MS);
      }
    },
    shown: () => {
      const texts = new Set(receiver.received.map(({ bytes }) => device.read(bytes)));
      return [...texts].map((text) => JSON.parse(text) as unknown);
    },
  };
}

/** All were asked at the same moment, so their order says nothing. */
function idsOf(notices: readonly Notice[]): readonly string[] {
  return notices.map(({ about }) => ("id" in about ? about.id : "")).toSorted();
}

interface Digest {
  readonly is: string;
  readonly count: number;
  readonly waiting: readonly string[];
}

test("what was held back is one notification with ids only, and each that is decided is taken from it", async () => {
  const { notices, tellAll, shown } = await startScene(["pay", "wire", "wipe"]);
  await tellAll(notices);
  await tellAll(notices);
  const digest = {
    notice: expect.any(String) as string,
    is: "digest",
    count: 3,
    waiting: expect.any(Array) as string[],
  };
  expect(shown()).toEqual([digest]);
  expect((shown()[0] as Digest).waiting.toSorted()).toEqual(idsOf(notices));
  const [first] = notices;
  if (first === undefined || !("id" in first.about)) throw new Error("There is one.");
  const about = { ...first.about, status: "denied" as const };
  await tellAll([{ ...first, id: "msg_ended", type: "confirmation.decided", revision: 2, about }]);
  expect(shown()).toEqual([digest, { notice: "msg_ended_over", confirmation: about.id, is: "over" }]);
});

test("one that waits alone is told by itself, and a digest names no more ids than fit", async () => {
  const alone = await startScene(["pay"]);
  await alone.tellAll(alone.notices);
  expect(alone.shown()).toMatchObject([{ is: "requested", confirmation: idsOf(alone.notices)[0] }]);
  const many = await startScene(Array.from({ length: 25 }, (_, n) => `tool${n}`));
  await many.tellAll(many.notices);
  const [digest] = many.shown() as readonly Digest[];
  expect(digest).toMatchObject({ is: "digest", count: 25 });
  expect(digest?.waiting).toHaveLength(20);
  expect(idsOf(many.notices)).toEqual(expect.arrayContaining([...(digest?.waiting ?? [])]));
});

test.each([true, false])(
  "a process that dies at any write leaves one notification about all that waits (committed: %s)",
  async (committed) => {
    for (let writes = 0; writes < MOST_WRITES; writes += 1) {
      const { ledger, notices, create, tellAll, shown } = await startScene(["pay", "wire"]);
      const [notice] = notices;
      if (notice === undefined) throw new Error("There is one.");
      const died = await create(dyingStore(ledger, { writes, committed }))
        .tell(notice, signal)
        .then(
          () => false,
          () => true,
        );
      await tellAll(notices);
      expect({ writes, shown: shown() }).toMatchObject({ writes, shown: [{ is: "digest", count: 2 }] });
      if (!died) return;
    }
    throw new Error("It writes more than expected.");
  },
);

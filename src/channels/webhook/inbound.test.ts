import { describe, expect, test } from "vitest";
import { askByRules } from "../../../test/support/channels/ask-by-rules.ts";
import { otherDoors } from "../../../test/support/channels/other-doors.ts";
import {
  answerOf,
  startWebhookScene,
  type Told,
  type WebhookScene,
} from "../../../test/support/http/webhook-scene.ts";
import { useResources } from "../../../test/support/resources.ts";
import {
  INBOUND_PEOPLE,
  type InboundAttempt,
  type InboundFraud,
  type InboundPerson,
  type InboundReply,
  type InboundSubject,
  inboundContract,
  type NotApplicable,
} from "../inbound.contract.ts";
import type { WebhookPerson } from "./answers.ts";

const resources = useResources();
/** A minute more than is allowed: what is too early must still be, however long a busy machine takes to send it. */
const TOO_FAR_MS = 360_000;

function toWebhookPerson({ moved, ...person }: InboundPerson): WebhookPerson {
  return { ...person, webhook: `${person.id}.${moved === true ? "other" : "n8n"}` };
}

/** Our own message about the question, sent back to us. */
function mirrored(scene: WebhookScene, { id }: Told): Request {
  const { headers = {}, body = "" } =
    scene.receiver.received.find(({ body: text }) => text.includes(id)) ?? {};
  const signed = Object.entries(headers).filter(([name]) => name.startsWith("webhook-")) as [
    string,
    string,
  ][];
  return new Request(scene.request("").url, { method: "POST", headers: new Headers(signed), body });
}

function refused(requests: readonly Request[], status: number): readonly InboundAttempt[] {
  return requests.map((request) => ({ request, status }));
}

function forged(scene: WebhookScene, told: Told): readonly InboundAttempt[] {
  const body = answerOf(told);
  const unsigned = scene.request(body);
  unsigned.headers.delete("webhook-signature");
  const renamed = scene.request(body);
  renamed.headers.set("webhook-id", "evt_other");
  const doubled = ["webhook-id", "webhook-timestamp"].map((name) => {
    const request = scene.request(body);
    request.headers.append(name, request.headers.get(name) ?? "");
    return request;
  });
  const { headers, url } = scene.request(body);
  const requests = [
    unsigned,
    ...doubled,
    renamed,
    new Request(url, { method: "POST", headers, body: `${JSON.stringify(body)} ` }),
    scene.request(body, { at: Date.now() - TOO_FAR_MS }),
    scene.request(body, { at: Date.now() + TOO_FAR_MS }),
    scene.request(body, { id: "a.b" }),
  ];
  return [...refused(requests, 401), ...refused([new Request(url, { headers })], 405)];
}

function copied(scene: WebhookScene, told: Told, other: Told): readonly Request[] {
  const value = String(told.answerTo);
  const values = [other.answerTo, value.replace(/^\d+/, "2"), value.slice(0, -1), "", "1.", null, 1];
  return [...values.map((answerTo) => ({ answerTo })), { confirmation: other.id }].map((over) =>
    scene.request(answerOf(told, over)),
  );
}

async function heard(sent: Promise<Response>): Promise<InboundReply> {
  const answer = await sent;
  return { status: answer.status, text: await answer.text() };
}

async function createSubject(): Promise<InboundSubject> {
  const rules = askByRules();
  const people = INBOUND_PEOPLE.map(toWebhookPerson);
  const ledger = `sqlite:${await resources.folder()}/ledger.db`;
  const scene = await startWebhookScene(resources, { people, policy: rules.policy, ledger });
  const doors = otherDoors(resources, (at) => scene.doorOn(at));
  const asked = new Map<string, Told>();
  const toldOf = (id: string): Told => asked.get(id) ?? { id };
  const by = (id: string, names: readonly string[]): readonly InboundAttempt[] =>
    refused(
      names.map((person) => scene.request(answerOf(toldOf(id), { person }))),
      403,
    );
  const frauds: {
    readonly [kind in InboundFraud]: (id: string, other: string) => readonly InboundAttempt[] | NotApplicable;
  } = {
    forged: (id) => forged(scene, toldOf(id)),
    foreign: (id) =>
      refused(
        [mirrored(scene, toldOf(id)), scene.request(answerOf(toldOf(id)), { secret: scene.ownSecret })],
        401,
      ),
    copied: (id, other) => refused(copied(scene, toldOf(id), toldOf(other)), 400),
    edited: () => "n/a: an answer says nothing of the message but its value, which is bound to the question",
    strange: (id) => by(id, ["bob", "manager", "role:manager", "nobody", "__proto__"]),
    alike: (id) => by(id, ["Bob.n8n", "bob.n8n ", "bob.n8n\u200B", "b\u043Eb.n8n", "\u202En8n.bob"]),
    forced: () => "n/a: the message has all of it, as data",
  };
  return {
    engine: scene.engine,
    via: "webhook",
    sendsData: true,
    ran: () => scene.ran.length,
    async ask({ count = 1, ...question } = {}) {
      rules.count = count;
      const told = await scene.ask(question);
      asked.set(told.id, told);
      return told.id;
    },
    answer: async (id, { person, ...said }) =>
      scene.request(answerOf(toldOf(id), { person: `${person}.n8n`, ...said })),
    fraud: async (kind, { id, other }) => frauds[kind](id, other),
    forwarded: async () => "n/a: an answer needs the receiver's own signature",
    send: (request, known) => {
      const door = known === undefined ? scene.app : scene.entriesFor(known.map(toWebhookPerson));
      return heard(door.fetch(request));
    },
    sendElsewhere: (request) => heard(doors.elsewhere(request)),
    sendToOtherTenant: (request) => heard(doors.otherTenant(request)),
    repeated: [],
    lost: [{ status: 403 }, { status: 403 }, { status: 403 }],
    shown: async (id) => scene.receiver.received.find(({ body }) => body.includes(id))?.body ?? "",
  };
}

describe("the webhook keeps the contract of inbound doors", () => {
  test.each(inboundContract)("$name", async ({ run }) => {
    await expect(run(await createSubject())).resolves.toBeUndefined();
  });
});

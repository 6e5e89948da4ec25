import { describe, expect, test } from "vitest";
import { otherDoors } from "../../../test/support/channels/other-doors.ts";
import { type MailScene, startMailScene } from "../../../test/support/mail/mail-scene.ts";
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
import type { EmailPerson } from "./email-options.ts";

const resources = useResources();
const BOB = "bob@example.com";
const MANAGER = { roles: ["manager"] };

function toEmailPerson({ moved, ...person }: InboundPerson): EmailPerson {
  return { ...person, email: `${person.id}@${moved === true ? "elsewhere.example" : "example.com"}` };
}

type Entry = "card" | "decision";

function requestOf(
  body: object,
  headers: { readonly [name: string]: string } = {},
  entry: Entry = "decision",
): Request {
  return new Request(`http://127.0.0.1/channels/email/${entry}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** These links, to read the question and to approve it. */
function uses(links: readonly unknown[], status: number, over: object = {}): readonly InboundAttempt[] {
  return links.flatMap((link) =>
    (["card", "decision"] as const).map((entry) => ({
      request: requestOf({ link, confirmed: true, ...over }, {}, entry),
      status,
    })),
  );
}

async function partsOf(scene: MailScene, email: string, id: string): Promise<readonly [string, string]> {
  const [key = "", secret = ""] = ((await scene.link(email, id)) ?? "").split(".");
  return [key, secret];
}

async function fraud(
  scene: MailScene,
  kind: InboundFraud,
  { id, other }: { readonly id: string; readonly other: string },
): Promise<readonly InboundAttempt[] | NotApplicable> {
  const [key, secret] = await partsOf(scene, BOB, id);
  const link = `${key}.${secret}`;
  const [otherKey, otherSecret] = await partsOf(scene, BOB, other);
  const [megKey] = await partsOf(scene, "meg@example.com", id);
  switch (kind) {
    case "forged":
      return [
        ...uses([`${key}.${"A".repeat(43)}`, `${key}.`, `${"0".repeat(32)}.${secret}`, key, secret], 401),
        ...uses([id, "", "__proto__"], 401),
        ...uses([1, null, {}], 400),
        {
          request: new Request(`http://127.0.0.1/channels/email/decision?link=${link}&confirmed=true`),
          status: 405,
        },
      ];
    case "foreign":
      return ["https://evil.example", "null"].flatMap((origin) =>
        (["card", "decision"] as const).map((entry) => ({
          request: requestOf({ link, confirmed: true }, { origin }, entry),
          status: 403,
        })),
      );
    case "copied":
      return [
        ...uses([`${otherKey}.${secret}`, `${megKey}.${secret}`, `${key}.${otherSecret}`], 401),
        ...uses([`${key}.${otherSecret}`], 401, { confirmation: id }),
      ];
    case "edited":
      return "n/a: a link shows the question from the ledger, whatever the mail says";
    case "strange":
      return "n/a: a link names its person, and nothing else that is sent does";
    case "alike":
      return uses(
        [`${link}\u200B`, `\u202E${link}`, `${link} `, link.toUpperCase(), `${key}\uFF0E${secret}`],
        401,
      );
    default:
      return "n/a: the page shows all of it";
  }
}

async function heard(sent: Promise<Response>): Promise<InboundReply> {
  const answer = await sent;
  return { status: answer.status, text: await answer.text() };
}

async function createSubject(): Promise<InboundSubject> {
  const scene = await startMailScene(resources, { people: INBOUND_PEOPLE.map(toEmailPerson) });
  const doors = otherDoors(resources, (ledger) => scene.doorOn(ledger));
  const wasMailed = (email: string): boolean => scene.mail.received.some(({ to }) => to.includes(email));
  return {
    engine: scene.engine,
    via: "mail link",
    ran: () => scene.ran.length,
    async ask({ count = 1, hint = "", args } = {}) {
      const requirements = [{ from: MANAGER, count }];
      return scene.ask({ approvers: undefined, requirements, hint }, args);
    },
    async answer(id, { person, ...said }) {
      await scene.link(BOB, id);
      const email = `${person}@example.com`;
      if (person === "ana" && !wasMailed(email)) return undefined;
      const link = await scene.link(email, id);
      return link === undefined ? undefined : requestOf({ link, ...said });
    },
    fraud: (kind, about) => fraud(scene, kind, about),
    forwarded: async (id) =>
      requestOf({ link: await scene.link(BOB, id), confirmed: true }, { "x-forwarded-for": "192.0.2.7" }),
    send: (request, known) => {
      const door = known === undefined ? scene.app : scene.entriesFor(known.map(toEmailPerson));
      return heard(door.fetch(request));
    },
    sendElsewhere: (request) => heard(doors.elsewhere(request)),
    sendToOtherTenant: (request) => heard(doors.otherTenant(request)),
    repeated: [410],
    lost: [{ status: 409 }, { status: 401 }, { status: 401 }],
    async shown(id) {
      const link = await scene.link(BOB, id);
      const mails = scene.mail.received.filter(({ parts }) => parts.join().includes(id));
      return JSON.stringify([(await scene.post("card", { link })).json, mails.map(({ parts }) => parts)]);
    },
  };
}

describe("mails keep the contract of inbound doors", () => {
  test.each(inboundContract)("$name", async ({ run }) => {
    await expect(run(await createSubject())).resolves.toBeUndefined();
  });
});

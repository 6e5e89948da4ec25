import { describe, expect, test } from "vitest";
import { type MailScene, startMailScene } from "../../../test/support/mail/mail-scene.ts";
import { useResources } from "../../../test/support/resources.ts";
import {
  INBOUND_PEOPLE,
  type InboundFraud,
  type InboundPerson,
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

function requestOf(body: object, headers: { readonly [name: string]: string } = {}): Request {
  return new Request("http://127.0.0.1/channels/email/decision", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

function approvals(links: readonly unknown[]): readonly Request[] {
  return links.map((link) => requestOf({ link, confirmed: true }));
}

async function partsOf(scene: MailScene, email: string, id: string): Promise<readonly [string, string]> {
  const [key = "", secret = ""] = ((await scene.link(email, id)) ?? "").split(".");
  return [key, secret];
}

async function fraud(
  scene: MailScene,
  kind: InboundFraud,
  { id, other }: { readonly id: string; readonly other: string },
): Promise<readonly Request[] | NotApplicable> {
  const [key, secret] = await partsOf(scene, BOB, id);
  const link = `${key}.${secret}`;
  const [otherKey, otherSecret] = await partsOf(scene, BOB, other);
  const [megKey] = await partsOf(scene, "meg@example.com", id);
  switch (kind) {
    case "forged":
      return [
        ...approvals([`${key}.${"A".repeat(43)}`, `${key}.`, `${"0".repeat(32)}.${secret}`, key, secret]),
        ...approvals([id, "", "__proto__", 1, null, {}]),
        new Request(`http://127.0.0.1/channels/email/decision?link=${link}&confirmed=true`),
      ];
    case "foreign":
      return [
        requestOf({ link, confirmed: true }, { origin: "https://evil.example" }),
        requestOf({ link, confirmed: true }, { origin: "null" }),
      ];
    case "copied":
      return [
        ...approvals([`${otherKey}.${secret}`, `${megKey}.${secret}`, `${key}.${otherSecret}`]),
        requestOf({ link: `${key}.${otherSecret}`, confirmed: true, confirmation: id }),
      ];
    case "edited":
      return "n/a: a link shows the question from the ledger, whatever the mail says";
    case "strange":
      return "n/a: a link names its person, and nothing else that is sent does";
    case "alike":
      return approvals([
        `${link}\u200B`,
        `\u202E${link}`,
        `${link} `,
        link.toUpperCase(),
        `${key}\uFF0E${secret}`,
      ]);
    default:
      return "n/a: the page shows all of it";
  }
}

async function createSubject(): Promise<InboundSubject> {
  const scene = await startMailScene(resources, { people: INBOUND_PEOPLE.map(toEmailPerson) });
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
    send: (request, known) =>
      known === undefined
        ? scene.app.fetch(request)
        : scene.entriesFor(known.map(toEmailPerson)).fetch(request),
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

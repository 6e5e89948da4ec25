import { describe, expect, test } from "vitest";
import { askByRules } from "../../../test/support/channels/ask-by-rules.ts";
import { otherDoors } from "../../../test/support/channels/other-doors.ts";
import { useResources } from "../../../test/support/resources.ts";
import { type SlackScene, startSlackScene } from "../../../test/support/slack/slack-scene.ts";
import {
  type Json,
  pressPayload,
  type SlackMessage,
  signedRequest,
  submitPayload,
  WORKSPACE,
} from "../../../test/support/slack/slack-stand-in.ts";
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
import { splitButtonValue } from "./button.ts";
import type { SlackPerson } from "./slack-options.ts";

const resources = useResources();
/** A minute more than is allowed: what is too early must still be, however long a busy machine takes to send it. */
const TOO_FAR_MS = 360_000;
const STALE = "no longer current";
const STRANGER = "not among the people";
const BOB = { user: "U0BOB", action: "approve" } as const;

function accountOf(person: string): string {
  return `U0${person.toUpperCase()}`;
}

function toSlackPerson({ moved, ...person }: InboundPerson): SlackPerson {
  return { ...person, slack: moved === true ? "U0ELSEWHERE" : accountOf(person.id) };
}

function button(message: SlackMessage, action: string): unknown {
  const elements = message.blocks.flatMap((block) => (block["elements"] ?? []) as readonly Json[]);
  return elements.find((element) => element["action_id"] === action)?.["value"];
}

/** A press of Bob's, with another value in its button. */
function pressWith(message: SlackMessage, value: unknown): Request {
  const actions = [{ action_id: "approve", block_id: "b", value, type: "button", action_ts: "1.0" }];
  return signedRequest(pressPayload(message, { ...BOB, payload: { actions } }));
}

/** What Slack acknowledges, and then says to whoever pressed. */
function acknowledged(requests: readonly Request[], says: string): readonly InboundAttempt[] {
  return requests.map((request) => ({ request, status: 200, says }));
}

function refused(requests: readonly Request[], status: number): readonly InboundAttempt[] {
  return requests.map((request) => ({ request, status }));
}

/** The dialog that a person opens to reject. */
async function openDialog(scene: SlackScene, card: SlackMessage, user: string): Promise<Json> {
  await scene.press(card, { user, action: "reject" });
  return scene.slack.views.at(-1) ?? {};
}

function forged(card: SlackMessage): readonly InboundAttempt[] {
  const payload = pressPayload(card, BOB);
  const unsigned = signedRequest(payload);
  unsigned.headers.delete("x-slack-signature");
  const { headers, url } = signedRequest(payload);
  const doubled = ["x-slack-request-timestamp", "x-slack-signature"].map((name) => {
    const request = signedRequest(payload);
    request.headers.append(name, request.headers.get(name) ?? "");
    return request;
  });
  const altered = `payload=${encodeURIComponent(JSON.stringify(payload))}&a=b`;
  const requests = [
    unsigned,
    ...doubled,
    new Request(url, { method: "POST", headers, body: altered }),
    signedRequest(payload, { secret: "another signing secret" }),
    signedRequest(payload, { at: Date.now() - TOO_FAR_MS }),
    signedRequest(payload, { at: Date.now() + TOO_FAR_MS }),
  ];
  return [...refused(requests, 401), ...refused([new Request(url, { headers })], 405)];
}

function foreign(card: SlackMessage, view: Json): readonly Request[] {
  const presses = [
    { team: { id: "T0002", domain: "evil" } },
    { team: null },
    { api_app_id: "A0002" },
    { user: { id: "U0BOB", team_id: "T0002" } },
  ];
  return [
    ...presses.map((payload) => pressPayload(card, { ...BOB, payload })),
    ...[{ app_id: "A0002" }, { team_id: "T0002" }].map((over) =>
      submitPayload({ ...view, ...over }, "U0BOB", {}),
    ),
  ].map((payload) => signedRequest(payload));
}

/** Buttons under other messages and with other facts, and dialogs of other people and for other things. */
async function copied(
  scene: SlackScene,
  { id, other }: { readonly id: string; readonly other: string },
): Promise<readonly Request[]> {
  const [card, harmless] = [await scene.card("U0BOB", id), await scene.card("U0BOB", other)];
  const room = await scene.card(WORKSPACE.room, id);
  const stolen = String(button(card, "approve"));
  const view = await openDialog(scene, room, "U0BOB");
  const bound = String(view["private_metadata"]);
  const dialogs: readonly [Json, string][] = [
    [view, "U0MEG"],
    [{ ...view, callback_id: "fill" }, "U0BOB"],
    [{ ...view, callback_id: "approve" }, "U0BOB"],
    [{ ...view, private_metadata: bound.replace(WORKSPACE.room, "U0BOB") }, "U0BOB"],
    [{ ...view, private_metadata: "" }, "U0BOB"],
  ];
  return [
    pressWith(harmless, stolen),
    pressWith(room, stolen),
    pressWith({ ...card, ts: "1.000001" }, stolen),
    pressWith({ ...card, channel: "C0EVIL" }, stolen),
    pressWith(card, button(card, "reject")),
    pressWith(card, stolen.replace(/\.\d+\./, ".2.")),
    pressWith(card, `${splitButtonValue(button(harmless, "approve"))?.key}${stolen.slice(32)}`),
    pressWith(card, id),
    pressWith(card, undefined),
    ...dialogs.map(([dialog, user]) => signedRequest(submitPayload(dialog, user, {}))),
  ];
}

function edited(card: SlackMessage): readonly Request[] {
  const [first = {}, ...rest] = card.blocks;
  const edits: readonly Partial<SlackMessage>[] = [
    { edited: { user: "U0EVIL", ts: "1.0" } },
    { app_id: "A0002" },
    { blocks: rest },
    { blocks: [] },
    { blocks: [first, first, ...rest] },
    { blocks: card.blocks.toReversed() },
  ];
  return edits.map((edit) => pressWith({ ...card, ...edit }, button(card, "approve")));
}

async function fraud(
  scene: SlackScene,
  kind: InboundFraud,
  about: { readonly id: string; readonly other: string },
): Promise<readonly InboundAttempt[] | NotApplicable> {
  const card = await scene.card("U0BOB", about.id);
  const room = await scene.card(WORKSPACE.room, about.id);
  const by = (users: readonly string[]): readonly Request[] =>
    users.flatMap((user) =>
      ["approve", "reject"].map((action) => signedRequest(pressPayload(room, { user, action }))),
    );
  switch (kind) {
    case "forged":
      return forged(card);
    case "foreign":
      return refused(foreign(card, await openDialog(scene, card, "U0BOB")), 400);
    case "copied":
      return acknowledged(await copied(scene, about), STALE);
    case "edited":
      return acknowledged(edited(card), STALE);
    case "strange":
      return acknowledged(by(["U0SOMEBODY", "U0NOBODY"]), STRANGER);
    case "alike":
      return acknowledged(
        by(["u0bob", "U0BOB ", "U0BOB\u200B", "\u202EBOB0U", "U0B\u041EB", "bob"]),
        STRANGER,
      );
    default:
      return acknowledged([pressWith(card, button(card, "reject"))], STALE);
  }
}

async function createSubject(): Promise<InboundSubject> {
  const rules = askByRules();
  const people = INBOUND_PEOPLE.map(toSlackPerson);
  const scene = await startSlackScene(resources, { people, room: WORKSPACE.room, policy: rules.policy });
  const doors = otherDoors(resources, (ledger) => scene.doorOn(ledger));
  const heard = async (send: () => Promise<Response>): Promise<InboundReply> => {
    const before = scene.slack.views.length;
    const answer = await send();
    const said = JSON.stringify(scene.slack.views.slice(before));
    return { status: answer.status, text: `${await answer.text()}${said}` };
  };
  return {
    engine: scene.engine,
    via: "slack",
    ran: () => scene.ran.length,
    async ask({ count = 1, ...question } = {}) {
      rules.count = count;
      return scene.ask(question);
    },
    async answer(id, { person, confirmed, reason }) {
      const user = accountOf(person);
      const card = await scene.card(person === "ana" ? WORKSPACE.room : user, id);
      if (confirmed && button(card, "approve") === undefined) return undefined;
      if (confirmed) return signedRequest(pressPayload(card, { user, action: "approve" }));
      const view = await openDialog(scene, card, user);
      return signedRequest(submitPayload(view, user, reason === undefined ? {} : { reason }));
    },
    fraud: (kind, about) => fraud(scene, kind, about),
    forwarded: async () => "n/a: a forwarded message has no buttons, and a copied one is refused",
    send: (request, known) => {
      const door = known === undefined ? scene.app : scene.entriesFor(known.map(toSlackPerson));
      return heard(() => door.fetch(request));
    },
    sendElsewhere: (request) => heard(() => doors.elsewhere(request)),
    sendToOtherTenant: (request) => heard(() => doors.otherTenant(request)),
    repeated: [],
    lost: [
      { status: 200, says: "Not decided" },
      { status: 200, says: STRANGER },
      { status: 200, says: STRANGER },
    ],
    async shown(id) {
      await openDialog(scene, await scene.card("U0BOB", id), "U0BOB");
      return JSON.stringify([await scene.card("U0BOB", id), scene.slack.views]);
    },
  };
}

describe("Slack keeps the contract of inbound doors", () => {
  test.each(inboundContract)("$name", async ({ run }) => {
    await expect(run(await createSubject())).resolves.toBeUndefined();
  });
});

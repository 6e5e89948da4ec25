import { describe, expect, test } from "vitest";
import { playRecipient } from "../../../test/support/http/recipient-play.ts";
import { status, WebhookReceiver } from "../../../test/support/http/webhook-receiver.ts";
import { useResources } from "../../../test/support/resources.ts";
import { buildNotice, type ChannelSubject, channelContract } from "../channel.contract.ts";
import type { Notice } from "../channel.ts";
import { createRoomChannel, type RoomOptions } from "./room-channel.ts";

const signal = new AbortController().signal;
const resources = useResources();
const LINK = "https://approvals.example/#/confirmations/adk-1";
const EVIL = "*bold* <@1> @everyone [x](https://evil.example) `c` \u202Egpj\n# head";

async function receive(): Promise<WebhookReceiver> {
  const receiver = await new WebhookReceiver().listen();
  resources.add(() => receiver.close());
  return receiver;
}

function optionsFor(template: RoomOptions["template"], url: string): RoomOptions {
  if (template === "telegram") return { name: "room", template, url, chat: "-100123" };
  if (template === "pagerduty") return { name: "room", template, url, routingKey: "R0UT1NG" };
  if (template === "opsgenie") return { name: "room", template, url, apiKey: "G3N1E" };
  return { name: "room", template, url };
}

/** How much the medium takes in one message, as its documentation says. */
const MOST: { readonly [template in RoomOptions["template"]]: number } = {
  teams: 28_000,
  discord: 6_000,
  telegram: 4_096,
  pagerduty: 512_000,
  opsgenie: 24_000,
};

async function createSubject(template: RoomOptions["template"]): Promise<ChannelSubject> {
  const receiver = await receive();
  return {
    channel: createRoomChannel(optionsFor(template, `${receiver.url}/t0ken`)),
    hasNoIds: true,
    most: MOST[template],
    secrets: ["t0ken", "R0UT1NG", "G3N1E"],
    // Discord shows what follows a backslash as it is.
    arrived: () =>
      receiver.received.map(({ body }) => ({ id: "", text: body.replaceAll(String.raw`\\_`, "_") })),
    found: () => receiver.received.length,
    play: (play) => playRecipient(receiver, play),
  };
}

async function sentBy(template: RoomOptions["template"], notice: Notice): Promise<Record<string, unknown>> {
  const receiver = await receive();
  const channel = createRoomChannel(optionsFor(template, `${receiver.url}/t0ken`));
  expect(await channel.tell(notice, signal)).toEqual({ ok: true });
  return JSON.parse(receiver.received[0]?.body ?? "") as Record<string, unknown>;
}

function hostile(): Notice {
  const about = { ...buildNotice().about, tool: EVIL, hint: EVIL };
  return buildNotice({ about });
}

test("Teams gets an adaptive card whose texts have no markup, and a button that opens the inbox", async () => {
  const body = await sentBy("teams", hostile());
  expect(body).toMatchObject({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        contentUrl: null,
        content: {
          type: "AdaptiveCard",
          version: "1.4",
          actions: [{ type: "Action.OpenUrl", title: "Open in the inbox", url: LINK }],
        },
      },
    ],
  });
  // A text block would read markup; a text run does not.
  expect(JSON.stringify(body)).not.toContain('TextBlock","text');
  expect(JSON.stringify(body)).toContain("TextRun");
  expect(JSON.stringify(body)).not.toContain("\u202E");
});

test("Discord mentions nobody and reads no markup of strangers", async () => {
  const body = await sentBy("discord", hostile());
  expect(body).toMatchObject({
    content: "A call waits for a decision",
    allowed_mentions: { parse: [] },
    embeds: [{ url: LINK }],
  });
  const [embed] = body["embeds"] as readonly { readonly description: string }[];
  expect(embed?.description).toContain(
    String.raw`\*bold\* \<\@1\> \@everyone \[x\]\(https\://evil.example\)`,
  );
});

test("Telegram gets text in which strangers' words are preformatted", async () => {
  const body = await sentBy("telegram", hostile());
  expect(body).toMatchObject({ chat_id: "-100123", link_preview_options: { is_disabled: true } });
  expect(body).not.toHaveProperty("parse_mode");
  const text = String(body["text"]);
  const [entity] = body["entities"] as readonly { readonly offset: number; readonly length: number }[];
  const { offset = 0, length = 0 } = entity ?? {};
  expect(text.slice(0, offset)).toBe("A call waits for a decision\n");
  expect(text.slice(offset, offset + length)).toMatch(/^Tool: \*bold\*[^]*Asked by: ana$/);
  expect(text.slice(offset + length)).toBe(`\n${LINK}`);
});

test("PagerDuty has one incident per question: triggered while it waits, resolved when it is over", async () => {
  const opened = await sentBy("pagerduty", buildNotice());
  expect(opened).toMatchObject({
    routing_key: "R0UT1NG",
    event_action: "trigger",
    payload: {
      summary: "A call waits for a decision. Tool: transfer",
      source: "countersign",
      severity: "warning",
    },
    links: [{ href: LINK, text: "Open in the inbox" }],
  });
  const about = { ...buildNotice().about, status: "denied" } as const;
  const closed = await sentBy("pagerduty", buildNotice({ type: "confirmation.decided", about }));
  expect(closed).toEqual({
    routing_key: "R0UT1NG",
    event_action: "resolve",
    dedup_key: opened["dedup_key"],
  });
  const unknown = { ...buildNotice().about, status: "unknown" } as const;
  const lost = await sentBy("pagerduty", buildNotice({ type: "call.unknown", about: unknown }));
  expect(lost).toMatchObject({ event_action: "trigger", payload: { severity: "error" } });
});

test("Opsgenie has one alert per question: open while it waits, closed when it is over", async () => {
  const receiver = await receive();
  const channel = createRoomChannel(optionsFor("opsgenie", `${receiver.url}/v2/alerts`));
  const about = { ...buildNotice().about, status: "denied" } as const;
  const unknown = { ...buildNotice().about, status: "unknown" } as const;
  for (const notice of [
    buildNotice(),
    buildNotice({ type: "confirmation.decided", about }),
    buildNotice({ type: "call.unknown", about: unknown }),
  ])
    expect(await channel.tell(notice, signal)).toEqual({ ok: true });
  const [opened, closed, lost] = receiver.received.map(({ path, headers, body }) => ({
    path,
    key: headers["authorization"],
    body: JSON.parse(body) as Record<string, unknown>,
  }));
  expect(opened).toMatchObject({
    path: "/v2/alerts",
    key: "GenieKey G3N1E",
    body: { message: "A call waits for a decision. Tool: transfer", priority: "P3", source: "countersign" },
  });
  expect(opened?.body["description"]).toContain(LINK);
  const alias = String(opened?.body["alias"]);
  expect(alias).toMatch(/^[0-9a-f]{64}$/);
  expect(closed).toEqual({
    path: `/v2/alerts/${alias}/close?identifierType=alias`,
    key: "GenieKey G3N1E",
    body: { source: "countersign", note: "A call was denied" },
  });
  expect(lost?.body).toMatchObject({ alias, priority: "P2" });
});

test("Opsgenie gets a message and a description that it takes, however long they are", async () => {
  const about = { ...buildNotice().about, tool: "t".repeat(500), hint: "h".repeat(20_000) };
  const body = await sentBy("opsgenie", buildNotice({ about }));
  expect(String(body["message"]).length).toBeLessThanOrEqual(130);
  expect(String(body["description"]).length).toBeLessThanOrEqual(15_000);
});

test("whoever did not answer is named, and why", async () => {
  const receiver = await receive();
  await receiver.close();
  const channel = createRoomChannel(optionsFor("teams", `${receiver.url}/t0ken`));
  const tell = async (stop: AbortSignal): Promise<unknown> => channel.tell(buildNotice(), stop);
  expect(await tell(signal)).toEqual({
    ok: false,
    reason: `${receiver.url} could not be reached (ECONNREFUSED).`,
  });
  expect(await tell(AbortSignal.abort())).toEqual({
    ok: false,
    reason: `${receiver.url} did not answer in time.`,
  });
});

describe.each(["teams", "discord", "telegram", "pagerduty", "opsgenie"] as const)("%s", (template) => {
  test.each(channelContract)("$name", async ({ run }) => {
    await expect(run(await createSubject(template))).resolves.toBeUndefined();
  });

  test("is told what waits, without arguments", async () => {
    const text = JSON.stringify(await sentBy(template, buildNotice()));
    expect(text).toContain("transfer");
    expect(text).toContain(LINK);
    expect(text).not.toContain("redacted");
  });

  test("a failure is an outcome that gives nothing away, with the time to wait", async () => {
    const receiver = await receive();
    const channel = createRoomChannel(optionsFor(template, `${receiver.url}/t0ken`));
    receiver.answer = status(429, { "retry-after": "7" });
    const busy = await channel.tell(buildNotice(), signal);
    expect(busy).toEqual({ ok: false, reason: `${receiver.url} answered 429.`, retryAfterMs: 7_000 });
    receiver.answer = status(404);
    expect(await channel.tell(buildNotice(), signal)).toMatchObject({ ok: false, final: true });
    await receiver.close();
    const away = await channel.tell(buildNotice(), signal);
    expect(away.ok).toBe(false);
    expect(JSON.stringify(away)).not.toMatch(/t0ken|R0UT1NG|G3N1E/);
    await receiver.listen();
    receiver.answer = status(204);
    expect(await channel.sendTest?.(signal)).toEqual({ ok: true });
  });

  test("a redirect is not followed, and a connection that others can read is refused", async () => {
    const receiver = await receive();
    receiver.answer = status(307, { location: `${receiver.url}/elsewhere` });
    const told = await createRoomChannel(optionsFor(template, receiver.url)).tell(buildNotice(), signal);
    expect(told.ok).toBe(false);
    expect(receiver.received).toHaveLength(1);
    for (const url of ["http://example.com/hook", "file:///etc/passwd", "hook"])
      expect(() => createRoomChannel(optionsFor(template, url))).toThrow(
        expect.objectContaining({ code: "invalid-option" }),
      );
  });
});

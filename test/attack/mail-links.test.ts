import { join } from "node:path";
import { expect, test } from "vitest";
import { DecisionLinks } from "../../src/channels/email/decision-links.ts";
import { ManualClock } from "../../src/engine/index.ts";
import { createEngine } from "../../src/index.ts";
import { PEOPLE, secretsIn, startMailScene } from "../support/mail/mail-scene.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();
const BOB = "bob@example.com";
const MEG = "meg@example.com";
const HOUR = 3_600_000;

test("a link shows the whole question, decides it once as its recipient, and the record says how", async () => {
  const scene = await startMailScene(resources);
  const id = await scene.ask({}, { to: "zoe", note: "x".repeat(30_000) });
  const link = await scene.link(BOB, id);
  const card = await scene.post("card", { link });
  expect(card.status).toBe(200);
  expect(JSON.stringify(card.json.rows)).toContain("x".repeat(30_000));
  expect(await scene.status(id)).toBe("requested");
  const decided = await scene.post("decision", { link, confirmed: true, reason: "fine" });
  expect(decided.status).toBe(200);
  const { decision } = await scene.engine.confirmation(id);
  expect(decision).toMatchObject({
    confirmed: true,
    by: { id: "bob", kind: "channel", authenticated: true },
    via: "mail link",
    reason: "fine",
  });
  for (const body of [
    { link, confirmed: true },
    { link, confirmed: false },
  ])
    expect(await scene.post("decision", body)).toMatchObject({ status: 410 });
  expect((await scene.post("card", { link })).json.rows).toBeUndefined();
  await scene.engine.finished((await scene.engine.ledger.load({ confirmation: id }))?.call?.id ?? "");
  expect(scene.ran).toHaveLength(1);
});

test("a link decides nothing where the rule allows none, however it was made", async () => {
  const scene = await startMailScene(resources);
  const id = await scene.ask({ byMail: undefined });
  expect(await scene.link(BOB, id)).toBeUndefined();
  const links = new DecisionLinks(scene.engine.ledger, "email");
  const link = await links.create(await scene.engine.confirmation(id), { id: "bob", email: BOB });
  for (const entry of ["card", "decision"] as const)
    expect(await scene.post(entry, { link, confirmed: true })).toMatchObject({ status: 401 });
  expect(await scene.status(id)).toBe("requested");
});

test("the ledger keeps no secret, only hashes", async () => {
  const scene = await startMailScene(resources);
  const id = await scene.ask();
  await scene.link(MEG, id);
  const link = (await scene.link(BOB, id)) ?? "";
  const kinds = ["mail-link", "channel-messages"];
  const stored = await Promise.all(kinds.map((kind) => scene.engine.ledger.items.list(kind)));
  const records = await scene.engine.ledger.journal.records({ after: 0, limit: 100 });
  const [, secret = ""] = link.split(".");
  expect(secret).toHaveLength(43);
  expect(JSON.stringify([stored, records])).not.toContain(secret);
  expect(stored[0]?.items).toHaveLength(2);
});

test("of two who use a link at once, one decides", async () => {
  const scene = await startMailScene(resources);
  for (let round = 0; round < 10; round += 1) {
    // More votes are needed, so that only the link can stop the second one.
    const id = await scene.ask({ approvers: undefined, ...quorum() });
    const link = await scene.link(BOB, id);
    const answers = await Promise.all(
      [true, false, true, false].map((confirmed) => scene.post("decision", { link, confirmed })),
    );
    // Whoever repeats the stored decision is answered with it; the others are refused.
    const won = answers.flatMap(({ status }, place) => (status === 200 ? [place % 2] : []));
    expect(new Set(won).size).toBe(1);
    const { votes } = await scene.engine.confirmation(id);
    const records = await scene.engine.ledger.journal.records({ after: 0, limit: 10_000 });
    const cast = records.filter(
      ({ kind, body }) => kind === "vote-cast" && JSON.stringify(body).includes(id),
    );
    expect([votes.length, cast.length]).toEqual([1, 1]);
  }
});

function quorum() {
  return { requirements: [{ from: { roles: ["manager"] }, count: 2 }], denials: 2 };
}

test("a person with several mails has one vote, and one use ends all of their links", async () => {
  const people = [...PEOPLE, { id: "bob", email: "bob@home.example", roles: ["manager"] }];
  const scene = await startMailScene(resources, { people });
  const id = await scene.ask({ approvers: undefined, ...quorum() });
  const [work, home] = [await scene.link(BOB, id), await scene.link("bob@home.example", id)];
  expect(work).not.toBe(home);
  expect((await scene.post("decision", { link: work, confirmed: true })).json.title).toContain("More people");
  expect(await scene.post("decision", { link: home, confirmed: true })).toMatchObject({ status: 410 });
  expect(await scene.status(id)).toBe("requested");
  expect(await scene.post("decision", { link: await scene.link(MEG, id), confirmed: true })).toMatchObject({
    status: 200,
  });
  expect(await scene.status(id)).not.toBe("requested");
});

test("no GET, HEAD or other method reads or decides anything, whatever follows the link", async () => {
  const scene = await startMailScene(resources);
  const id = await scene.ask();
  const link = await scene.link(BOB, id);
  const [mail] = scene.mail.received.filter(({ to }) => to.includes(BOB));
  // In the text and in the HTML: the secret is nowhere but behind a #.
  const pieces = (mail?.parts ?? []).map((part) => part.replaceAll("&amp;", "&"));
  for (const part of pieces) expect(secretsIn(part).length).toBeGreaterThan(0);
  expect(mail?.raw.split("\r\n\r\n")[0]).not.toContain(link);
  for (const path of ["link", "card", "decision"]) {
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "PATCH"]) {
      const url = `http://127.0.0.1/channels/email/${path}?link=${link}&confirmed=true`;
      const headers = { "sec-purpose": "prefetch", "content-type": "application/json" };
      const body = method === "GET" || method === "HEAD" ? {} : { body: JSON.stringify({ link }) };
      const answer = await scene.app.fetch(new Request(url, { method, headers, ...body }));
      expect([path, method, answer.status]).toEqual([path, method, isPage(path, method) ? 200 : 405]);
      expect(await answer.text()).not.toContain("zoe");
    }
  }
  expect(await scene.status(id)).toBe("requested");
  expect(await scene.post("card", { link })).toMatchObject({ status: 200 });
});

function isPage(path: string, method: string): boolean {
  return path === "link" && (method === "GET" || method === "HEAD");
}

test("the page is the same for everybody, sends no referrer, and may load nothing", async () => {
  const scene = await startMailScene(resources);
  const answer = await scene.app.fetch(new Request("http://127.0.0.1/channels/email/link"));
  const { headers } = answer;
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-frame-options")).toBe("DENY");
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect/);
  expect(policy).not.toContain("unsafe");
  expect(await answer.text()).not.toMatch(/https?:\/\//);
});

test("guessing is throttled by address, and does not lock out who has a link", async () => {
  const scene = await startMailScene(resources, { failedLoginsPerMinute: 5 });
  const id = await scene.ask();
  const link = await scene.link(BOB, id);
  const key = link?.split(".")[0];
  const statuses: number[] = [];
  for (let guess = 0; guess < 20; guess += 1) {
    const guessed = `${key}.${String(guess).padStart(43, "A")}`;
    statuses.push((await scene.post("card", { link: guessed }, "192.0.2.7")).status);
  }
  expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
  expect(new Set(statuses.slice(6))).toEqual(new Set([429]));
  expect(await scene.post("decision", { link, confirmed: true }, "192.0.2.7")).toMatchObject({ status: 200 });
});

test("who is no longer an approver is not shown the question by the mail that they have", async () => {
  const scene = await startMailScene(resources);
  const id = await scene.ask();
  const link = await scene.link(BOB, id);
  const roleless = PEOPLE.map(({ id: person, email }) => ({ id: person, email }));
  const gone = PEOPLE.filter((person) => person.id !== "bob");
  const moved = PEOPLE.map((person) =>
    person.id === "bob" ? { ...person, email: "b@example.com" } : person,
  );
  for (const [people, expected] of [
    [roleless, 403],
    [gone, 401],
    [moved, 401],
  ] as const) {
    const body = JSON.stringify({ link });
    const request = new Request("http://127.0.0.1/channels/email/card", { method: "POST", body });
    const answer = await scene.entriesFor(people).fetch(request);
    expect(answer.status).toBe(expected);
    expect(await answer.text()).not.toContain("zoe");
  }
});

test("a link is void once the question was changed, withdrawn, decided elsewhere, or has expired", async () => {
  const clock = new ManualClock(Date.now());
  const scene = await startMailScene(resources, { clock });
  const by = {
    id: "meg",
    roles: ["manager"],
    kind: "token",
    scopes: ["decide"],
    authenticated: true,
  } as const;
  const ids = {
    amended: await scene.ask({ approvers: undefined, ...quorum() }),
    denied: await scene.ask(),
    cancelled: await scene.ask(),
    expired: await scene.ask({ expiresInMs: HOUR }),
  };
  const links = new Map<string, string | undefined>();
  for (const id of Object.values(ids)) links.set(id, await scene.link(BOB, id));
  const args = { to: "zoe", amount: 7 };
  await scene.engine.approve(ids.amended, { by, args });
  await scene.engine.deny(ids.denied, { by, reason: "no" });
  await scene.engine.cancel(ids.cancelled, { by, reason: "no" });
  await clock.advance(HOUR + 1);
  for (const link of links.values()) {
    for (const entry of ["card", "decision"] as const) {
      const answer = await scene.post(entry, { link, confirmed: true });
      expect([401, 410]).toContain(answer.status);
      expect(answer.json.rows).toBeUndefined();
    }
  }
  const ends = await Promise.all(Object.values(ids).map((id) => scene.status(id)));
  expect(ends.slice(0, 3)).toEqual(["cancelled", "denied", "cancelled"]);
  expect(scene.ran).toEqual([]);
});

test("a link is void once the tool is not what was shown", async () => {
  const url = `sqlite:${join(await resources.folder(), "ledger.db")}`;
  const scene = await startMailScene(resources, { ledger: url });
  const id = await scene.ask();
  const link = await scene.link(BOB, id);
  const deployed = await createEngine({ ledger: url });
  resources.add(() => deployed.close());
  deployed.gate("pay", { description: "Pays twice.", amendable: true }, async () => 1);
  const entries = scene.entriesFor(PEOPLE, deployed);
  const send = async (entry: string): Promise<number> => {
    const body = JSON.stringify({ link, confirmed: true });
    const request = new Request(`http://127.0.0.1/channels/email/${entry}`, { method: "POST", body });
    return (await entries.fetch(request)).status;
  };
  expect([await send("decision"), await send("card"), await send("decision")]).toEqual([409, 410, 410]);
  expect(await scene.status(id)).toBe("cancelled");
  expect(scene.ran).toEqual([]);
});

test("the question that takes the place of an amended one needs a login", async () => {
  const scene = await startMailScene(resources);
  const by = {
    id: "meg",
    roles: ["manager"],
    kind: "token",
    scopes: ["decide"],
    authenticated: true,
  } as const;
  const id = await scene.ask({ approvers: undefined, ...quorum() });
  await scene.link(BOB, id);
  const { confirmation } = await scene.engine.approve(id, { by, args: { to: "zoe", amount: 7 } });
  expect(confirmation.id).not.toBe(id);
  expect(await scene.link(BOB, confirmation.id)).toBeUndefined();
});

test("who asked gets no link where they may not approve", async () => {
  const people = PEOPLE.map((person) => ({ ...person, roles: ["manager"] }));
  const scene = await startMailScene(resources, { people });
  const id = await scene.ask({ approvers: { roles: ["manager"], notRequester: true } });
  expect(await scene.link(BOB, id)).toBeDefined();
  expect(await scene.link(MEG, id)).toBeDefined();
  expect(scene.mail.received.filter(({ to }) => to.includes("ana@example.com"))).toEqual([]);
});

test("a database that says another version makes the link void", async () => {
  const scene = await startMailScene(resources);
  const id = await scene.ask();
  const link = await scene.link(BOB, id);
  // As after a backup was restored: what people were shown counts no more.
  await scene.engine.markRestored({ by: { id: "ops" } });
  expect(await scene.post("card", { link })).toMatchObject({ status: 410 });
  expect(await scene.post("decision", { link, confirmed: true })).toMatchObject({ status: 410 });
  expect(await scene.status(id)).toBe("requested");
});

test.each([
  ["no rule says anything", { byMail: undefined }],
  ["a rule says no", { byMail: false }],
  ["a rule says something that is not true", { byMail: "yes" as unknown as boolean }],
])("there is no link where %s", async (_what, verdict) => {
  const scene = await startMailScene(resources);
  const id = await scene.ask(verdict);
  expect(await scene.link(BOB, id)).toBeUndefined();
  expect((await scene.engine.confirmation(id)).byMail).toBeUndefined();
});

test("a mail with a link says that it must not be forwarded", async () => {
  const scene = await startMailScene(resources);
  await scene.link(BOB, await scene.ask());
  expect(scene.mail.received.find(({ to }) => to.includes(BOB))?.parts[0]).toContain("Do not forward");
});

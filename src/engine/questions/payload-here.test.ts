import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import { ANA, type EngineFixture, openEngineFixture } from "../../../test/attack/support/engine-fixture.ts";
import { type Form, readForm } from "../common/schema/schema.ts";
import { tryApprove } from "../testing/try-decide.ts";

const LEAVE = z.object({
  until: z.iso.date().transform((day) => new Date(day)),
  days: z.number().refine((n) => n < 6),
});
const form = readForm(LEAVE) as Form;
const asked = { tool: "leave", question: { shown: { schema: form.jsonSchema } } };
const FITS = { until: "2026-01-02", days: 3 };
const READ = { until: new Date("2026-01-02"), days: 3 };

describe("a payload, where the tool is served", () => {
  test("that fits the form but not the tool's schema is refused with the field named, and the question stays open", async () => {
    const fixture = await openEngineFixture();
    fixture.app.define("leave", { readPayload: form.read });
    const { confirmation } = await fixture.ask(asked);
    const refused = await tryApprove(fixture.engine, confirmation.id, {
      by: ANA,
      payload: { ...FITS, days: 500 },
    });
    expect(refused).toMatchObject({ ok: false, code: "payload-mismatch", field: "days" });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested", votes: [] });
    expect(fixture.app.runs).toEqual([]);
  });

  test("reaches the tool as its schema reads it; what was sent is what is on record, and what the same decision is", async () => {
    const fixture = await openEngineFixture();
    fixture.app.define("leave", { readPayload: form.read });
    const { confirmation, call } = await fixture.ask(asked);
    await fixture.engine.approve(confirmation.id, { by: ANA, payload: FITS });
    await fixture.engine.finished(call.id);
    expect(fixture.app.runs).toMatchObject([{ payload: READ }]);
    expect((await fixture.confirmation(confirmation.id)).votes).toMatchObject([{ payload: FITS }]);
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA, payload: FITS })).toMatchObject({
      repeated: true,
    });
  });
});

test("a payload that was taken where the tool is not served, and does not fit, fails the call; the tool is not entered", async () => {
  using file = createDatabaseFile();
  const front = await openEngineFixture({ url: file.url, hosts: false });
  const [good, bad] = await front.askAll([asked, asked]);
  await front.engine.approve(String(good?.confirmation.id), { by: ANA, payload: FITS });
  await front.engine.approve(String(bad?.confirmation.id), { by: ANA, payload: { ...FITS, days: 500 } });
  const back = await openEngineFixture({ url: file.url, clock: front.clock });
  back.app.define("leave", { readPayload: form.read });
  await back.engine.work({ once: true });
  expect(back.app.runs).toMatchObject([{ key: good?.call.id, payload: READ }]);
  expect(await back.call(String(bad?.call.id))).toMatchObject({
    status: "failed",
    result: { error: expect.stringContaining("days") as string, code: "payload-mismatch" },
  });
});

test("a tool that cannot be asked now, or that changed, does not keep the decision from being taken", async () => {
  const fixture = await openEngineFixture();
  fixture.app.define("leave", { readPayload: form.read, definitionDigest: "v1:other" });
  const { confirmation } = await fixture.ask(asked);
  const payload = { ...FITS, days: 500 };
  expect(
    await fixture.engine.decisions.judgePayload(await subject(fixture, confirmation.id), payload),
  ).toMatchObject({
    ok: true,
  });
  fixture.app.tool = () => {
    throw new Error("its server is away");
  };
  expect(
    await fixture.engine.decisions.judgePayload(await subject(fixture, confirmation.id), payload),
  ).toMatchObject({
    ok: true,
  });
});

async function subject(fixture: EngineFixture, id: string) {
  const confirmation = await fixture.confirmation(id);
  return { confirmation, call: await fixture.call(confirmation.call) };
}

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { useResources } from "../../test/support/resources.ts";
import {
  Engine,
  ManualClock,
  partsOf,
  publishReceipts,
  receiptKeyOf,
  verifyReceipts,
} from "../engine/index.ts";
import { createLedger } from "../stores/index.ts";
import { newWebhookSecret, parseWebhookSecret, signWebhook } from "../webhooks/index.ts";
import { openTargets } from "./open-targets.ts";
import { receiptFileLines } from "./receipt-lines.ts";
import type { TargetSettings } from "./receipts-file.ts";

const SECRET = "a secret that only the processes know";
const WEBHOOK_SECRET = newWebhookSecret();
const RETRY_MS = 60_000;
const HOUR_MS = 3_600_000;
const resources = useResources();

let root: string;
let clock: ManualClock;
let engine: Engine;

beforeEach(async () => {
  root = await resources.folder();
  clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  resources.add(() => ledger.close());
  engine = new Engine({ ledger, clock, secret: SECRET });
});

/** One run; resolves to why the target did not take its receipt. */
async function publish(target: TargetSettings, everyMs?: number): Promise<readonly string[]> {
  const failures: string[] = [];
  await publishReceipts(partsOf(engine), {
    targets: await openTargets(engine, { targets: [target] }, WEBHOOK_SECRET),
    ...(everyMs === undefined ? {} : { everyMs }),
    onFailed: (_name, reason) => failures.push(reason),
  });
  return failures;
}

interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers with these statuses, one after the other, and then with 204. */
async function receiver(...statuses: number[]): Promise<{ readonly url: URL; readonly posted: Posted[] }> {
  const posted: Posted[] = [];
  const server: Server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      posted.push({ headers: request.headers, body });
      response.writeHead(statuses.shift() ?? 204, { location: "/elsewhere" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  resources.add(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: new URL(`http://127.0.0.1:${port}/hook?token=hush`), posted };
}

describe("an address", () => {
  test("gets each receipt signed as a webhook, and what it stores can be checked", async () => {
    const { url, posted } = await receiver();
    expect(await publish({ kind: "http", name: "auditor", url })).toEqual([]);
    const [{ headers, body } = { headers: {}, body: "" }] = posted;
    const id = String(headers["webhook-id"]);
    expect(id).toMatch(/^receipt_[\w-]{22}_auditor_1$/);
    const message = { id, timestamp: Number(headers["webhook-timestamp"]), body };
    const signature = signWebhook(message, [parseWebhookSecret(WEBHOOK_SECRET)]);
    expect(headers["webhook-signature"]).toBe(signature);
    const { type, data } = JSON.parse(body) as { readonly type: string; readonly data: unknown };
    expect(type).toBe("ledger.receipt");
    const stored = join(root, "stored.jsonl");
    writeFileSync(stored, JSON.stringify(data, null, 1).replaceAll("\n", ""));
    const checked = await verifyReceipts([{ name: "stored", lines: receiptFileLines(stored) }], {
      key: receiptKeyOf(SECRET),
      ledger: engine.ledger,
    });
    expect(checked).toMatchObject({ ok: true, receipts: 1 });
  });

  test.each([500, 301, 307, 401])(
    "that answers %d gets the same one again, a minute later",
    async (status) => {
      const { url, posted } = await receiver(status);
      const target: TargetSettings = { kind: "http", name: "auditor", url };
      expect(await publish(target, HOUR_MS)).toEqual([`${url.origin} answered ${status}.`]);
      expect(await publish(target, HOUR_MS)).toEqual([]);
      expect(posted).toHaveLength(1);
      await clock.advance(RETRY_MS);
      expect(await publish(target, HOUR_MS)).toEqual([]);
      expect(posted.map(({ body }) => body)).toEqual([posted[0]?.body, posted[0]?.body]);
      expect(posted[1]?.headers["webhook-id"]).toBe(posted[0]?.headers["webhook-id"]);
      await clock.advance(HOUR_MS);
      await publish(target, HOUR_MS);
      expect(posted[2]?.headers["webhook-id"]).toMatch(/_2$/);
    },
  );

  test("that cannot be reached is named without its path, which may be a secret", async () => {
    const { url } = await receiver();
    await resources.release();
    const ledger = await createLedger("memory:", { clock });
    engine = new Engine({ ledger, clock, secret: SECRET });
    const [reason = ""] = await publish({ kind: "http", name: "auditor", url });
    await ledger.close();
    expect(reason).toContain("could not be reached");
    expect(reason).not.toContain("hush");
  });

  test("needs a secret to sign with", async () => {
    const targets: readonly TargetSettings[] = [
      { kind: "http", name: "a", url: new URL("https://a.example/") },
    ];
    await expect(openTargets(engine, { targets }, undefined)).rejects.toThrow("COUNTERSIGN_WEBHOOK_SECRET");
  });
});

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", stdio: "pipe" }).trim();
}

/** A working copy, and the repository that it was cloned from. */
function workingCopy(): { readonly copy: string; readonly remote: string } {
  const [copy, remote] = [join(root, "copy"), join(root, "remote.git")];
  mkdirSync(remote);
  git(remote, "init", "--quiet", "--bare", "--initial-branch=main");
  mkdirSync(copy);
  git(copy, "init", "--quiet", "--initial-branch=main");
  git(copy, "remote", "add", "origin", remote);
  return { copy, remote };
}

describe("a git working copy", () => {
  test("gets one commit for each receipt, of nothing else, and is not pushed unless that was asked for", async () => {
    const { copy, remote } = workingCopy();
    writeFileSync(join(copy, "draft.txt"), "mine");
    git(copy, "add", "draft.txt");
    expect(await publish({ kind: "git", name: "history", folder: copy })).toEqual([]);
    expect(await publish({ kind: "git", name: "history", folder: copy })).toEqual([]);
    expect(git(copy, "log", "--format=%s").split("\n")).toEqual([
      expect.stringMatching(/^Receipt 2 of ledger /),
      expect.stringMatching(/^Receipt 1 of ledger /),
    ]);
    expect(git(copy, "ls-tree", "--name-only", "HEAD")).toBe("history.jsonl");
    expect(git(remote, "branch")).toBe("");
    const lines = receiptFileLines(join(copy, "history.jsonl"));
    const checked = await verifyReceipts([{ name: "history", lines }], {
      key: receiptKeyOf(SECRET),
      ledger: engine.ledger,
    });
    expect(checked).toMatchObject({ ok: true, receipts: 2 });
  });

  test("is pushed to a remote that is named; what is refused there is pushed later, and never by force", async () => {
    const { copy, remote } = workingCopy();
    const target: TargetSettings = { kind: "git", name: "history", folder: copy, push: "origin" };
    expect(await publish(target)).toEqual([]);
    expect(git(remote, "log", "--format=%s", "main")).toMatch(/^Receipt 1 of ledger /);
    const other = join(root, "other");
    git(root, "clone", "--quiet", remote, other);
    git(other, "-c", "user.name=e", "-c", "user.email=e@x", "commit", "-q", "--allow-empty", "-m", "Mine");
    git(other, "push", "--quiet", "origin", "HEAD");
    const [reason = ""] = await publish(target);
    expect(reason).toContain(`git in ${copy} failed`);
    expect(reason).toContain("rejected");
    git(copy, "-c", "user.name=e", "-c", "user.email=e@x", "pull", "--quiet", "--rebase", "origin", "main");
    expect(await publish(target)).toEqual([]);
    const subjects = git(remote, "log", "--format=%s", "main").split("\n");
    expect(subjects.map((subject) => subject.replace(/ of.*/, ""))).toEqual([
      "Receipt 3",
      "Receipt 2",
      "Mine",
      "Receipt 1",
    ]);
  });

  test("in which a process died between the file and the commit: the next run commits", async () => {
    const { copy } = workingCopy();
    writeFileSync(join(copy, ".git", "index.lock"), "");
    const target: TargetSettings = { kind: "git", name: "history", folder: copy };
    const [reason = ""] = await publish(target, HOUR_MS);
    expect(reason).toContain("index.lock");
    const before = readFileSync(join(copy, "history.jsonl"), "utf8");
    rmSync(join(copy, ".git", "index.lock"));
    await clock.advance(RETRY_MS);
    expect(await publish(target, HOUR_MS)).toEqual([]);
    expect(git(copy, "show", "HEAD:history.jsonl")).toBe(before.trimEnd());
  });

  test("that is none gets no file", async () => {
    const folder = join(root, "plain");
    mkdirSync(folder);
    const [reason = ""] = await publish({ kind: "git", name: "history", folder });
    expect(reason).toContain("not a git repository");
    expect(existsSync(join(folder, "history.jsonl"))).toBe(false);
  });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { boss, type GateServer, useGateServer } from "./gate-server.ts";

const startServer = useGateServer();
const PATIENT = { timeout: 40_000 };

/** A command that notes that it ran, and with which words. */
const NOTE = [
  "node",
  "-e",
  'require("fs").appendFileSync("ran.txt", process.argv.slice(1).join("|") + "\\n")',
];
const ran = (server: GateServer): readonly string[] => server.read("ran.txt").split("\n").filter(Boolean);

test("shows the exact command, runs it without a shell after the approval, and stores the end", async () => {
  const server = await startServer();
  const words = ["$HOME", "a b", ";", "*", '"', ""];
  const { ended } = server.start(["exec", "--key", "k1", "--", ...NOTE, ...words]);
  const { args, hint } = await server.question();
  expect(args).toMatchObject({ argv: [...NOTE, ...words], cwd: server.folder });
  expect(hint).toContain(`in ${server.folder} on `);
  expect(hint).toContain("inherits the environment");
  expect(ran(server)).toEqual([]);
  await server.approve();
  expect(await ended).toMatchObject({ code: 0, stdout: "" });
  expect(ran(server)).toEqual(['$HOME|a b|;|*|"|']);
});

test("refuses the second run under the same key, whoever starts it and when", async () => {
  const server = await startServer();
  const command = ["exec", "--key", "k1", "--", ...NOTE, "once"];
  const both = [server.start(command), server.start(command)];
  await server.approve();
  const codes = (await Promise.all(both.map(({ ended }) => ended))).map(({ code }) => code);
  expect(new Set(codes)).toEqual(new Set([0, 125]));
  const { code, stderr } = await server.start(command).ended;
  expect(code).toBe(125);
  expect(stderr).toContain("has already run");
  expect(ran(server)).toEqual(["once"]);
  const other = await server.start(["exec", "--key", "k1", "--", ...NOTE, "twice"]).ended;
  expect(other).toMatchObject({ code: 125 });
  expect(other.stderr).toContain("[key-reused]");
  expect(ran(server)).toEqual(["once"]);
});

test("passes the exit code, the output and the input through, and stores the end of the output", async () => {
  const server = await startServer();
  const script = 'process.stdin.pipe(process.stdout); console.error("oops"); process.exitCode = 3';
  const { ended } = server.start(["exec", "--key", "k1", "--", "node", "-e", script], "given\n");
  await server.approve();
  expect(await ended).toMatchObject({ code: 3, stdout: "given\n" });
  expect((await ended).stderr).toContain("oops\n");
  const { stderr } = await server.start(["exec", "--key", "k1", "--", "node", "-e", script]).ended;
  expect(stderr).toContain("The command exited with code 3.");
  expect(stderr).toContain("oops");
  const missing = server.start(["exec", "--key", "k2", "--", "no-such-program"]);
  await server.approve();
  expect(await missing.ended).toMatchObject({ code: 127 });
});

test("with --trust-policy runs nothing if the server has no policy", async () => {
  const server = await startServer({ policy: "none" });
  const { code, stderr } = await server.start(["exec", "--trust-policy", "--", ...NOTE, "x"]).ended;
  expect(code).toBe(125);
  expect(stderr).toContain("This server has no policy");
  expect(ran(server)).toEqual([]);
});

test("with --trust-policy asks only where the policy does; the policy's denials hold", async () => {
  const server = await startServer();
  const listed = await server.start(["exec", "--trust-policy", "--", "ls"]).ended;
  expect(listed).toMatchObject({ code: 0, stderr: "" });
  expect(listed.stdout).toContain("ledger.db");
  const forced = await server.start(["exec", "--trust-policy", "--", "git", "push", "-f"]).ended;
  expect(forced).toMatchObject({ code: 125, stdout: "" });
  expect(forced.stderr).toContain("history is not rewritten by agents");
  const asked = server.start(["exec", "--trust-policy", "--", ...NOTE, "x"]);
  const { id } = await server.question();
  await server.engine.deny(id, { by: boss, reason: "no" });
  expect(await asked.ended).toMatchObject({ code: 125 });
  expect(ran(server)).toEqual([]);
});

test("without a server nothing runs", async () => {
  const server = await startServer();
  await server.stop();
  const { code, stderr } = await server.start(["exec", "--", ...NOTE, "x"]).ended;
  expect(code).toBe(125);
  expect(stderr).toContain("cannot be reached");
  expect(ran(server)).toEqual([]);
});

test("killed while it waits, and started again, it finds the same question and runs once", async () => {
  const server = await startServer();
  const command = ["exec", "--key", "k1", "--", ...NOTE, "once"];
  const first = server.start(command);
  await server.question();
  first.kill("SIGKILL");
  await first.ended;
  await server.approve();
  expect(await server.start(command).ended).toMatchObject({ code: 0 });
  expect(ran(server)).toEqual(["once"]);
  const late = await server.start(["exec", "--key", "k2", "--wait", "1s", "--", ...NOTE, "x"]).ended;
  expect(late).toMatchObject({ code: 125 });
  expect(late.stderr).toContain("--key k2");
});

test("killed while the command runs, the call becomes unknown, and is not run again", async () => {
  const server = await startServer();
  const script = `require("fs").appendFileSync("ran.txt", process.pid + "\\n"); setTimeout(() => {}, 60_000)`;
  const command = ["exec", "--key", "k1", "--lease", "5s", "--", "node", "-e", script];
  const first = server.start(command);
  const { id } = await server.question();
  await server.approve();
  await expect.poll(() => ran(server), PATIENT).toHaveLength(1);
  first.kill("SIGKILL");
  const status = async (): Promise<string> => (await server.engine.confirmation(id)).status;
  await expect.poll(status, PATIENT).toBe("unknown");
  const { code, stderr } = await server.start(command).ended;
  expect(code).toBe(125);
  expect(stderr).toContain("Do not run it again");
  // Countersign cannot stop what a killed process has started.
  process.kill(Number(ran(server)[0]), "SIGKILL");
  expect(ran(server)).toHaveLength(1);
});

test("a claim that ran out before its answer arrived runs nothing, and the call is told as not run", async () => {
  const server = await startServer();
  const key = "k1";
  const status = async () => (await server.engine.callers.read({ by: "coder", key })).status;
  server.traffic.afterClaim = async () => {
    await expect.poll(status, PATIENT).toBe("unknown");
  };
  const { ended } = server.start(["exec", "--key", key, "--lease", "5s", "--", ...NOTE, "late"]);
  await server.approve();
  const { code, stderr } = await ended;
  expect([code, ran(server)]).toEqual([125, []]);
  expect(stderr).toContain("[claim-lost]");
  expect(await server.engine.callers.read({ by: "coder", key })).toMatchObject({
    status: "failed",
    error: expect.stringContaining("was not run") as string,
  });
});

test("renews its claim while the command runs", async () => {
  const server = await startServer();
  const script = 'setInterval(() => require("fs").existsSync("go") && process.exit(0), 50)';
  const { ended } = server.start(["exec", "--key", "k1", "--lease", "8s", "--", "node", "-e", script]);
  await server.approve();
  await expect.poll(() => server.traffic.renewals, PATIENT).toBeGreaterThan(1);
  writeFileSync(join(server.folder, "go"), "");
  expect(await ended).toMatchObject({ code: 0 });
});

test("passes signals to the command, and reports how it ended", async () => {
  const server = await startServer();
  const script =
    'process.on("SIGTERM", () => process.exit(7)); require("fs").appendFileSync("ran.txt", "up\\n"); setInterval(() => {}, 1000)';
  const running = server.start(["exec", "--key", "k1", "--", "node", "-e", script]);
  await server.approve();
  await expect.poll(() => ran(server), PATIENT).toEqual(["up"]);
  running.kill("SIGTERM");
  expect(await running.ended).toMatchObject({ code: 7 });
  const again = await server.start(["exec", "--key", "k1", "--", "node", "-e", script]).ended;
  expect(again.stderr).toContain("The command exited with code 7.");
});

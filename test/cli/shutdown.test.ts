import { expect, test } from "vitest";
import { type Folder, makeFolder, type Started } from "../support/processes/command-line.ts";
import { askToPay, untilWritten, writePayer } from "./payer.ts";

const SERVE = ["serve", "agents", "--port", "0"];

interface Shown {
  readonly status: string;
  readonly result?: unknown;
}

function shown(folder: Folder, id: string): Shown {
  return folder.json(["show", id]) as Shown;
}

/** A server in the middle of an approved call. */
async function serveUntilPaying(
  folder: Folder,
  ...more: readonly string[]
): Promise<{ server: Started; id: string }> {
  writePayer(folder);
  const id = askToPay(folder, 7);
  const server = folder.start([...SERVE, ...more]);
  await server.until("Countersign is running at");
  expect(folder.run(["approve", id]).code).toBe(0);
  await untilWritten(folder, "effects.log", "start 7");
  return { server, id };
}

test("SIGTERM in the middle of a tool lets it finish, and the process exits 0", async () => {
  const folder = makeFolder();
  const { server, id } = await serveUntilPaying(folder);
  server.signal("SIGTERM");
  await server.until("waiting for running calls");
  folder.write("go", "");
  expect(await server.ended()).toMatchObject({ code: 0, signal: null });
  expect(folder.read("effects.log")).toBe("start 7\nend 7\n");
  expect(shown(folder, id)).toMatchObject({ status: "succeeded", result: { paid: 7 } });
});

test("what still runs when the grace is over is left to the ledger, and the process exits 0", async () => {
  const folder = makeFolder();
  const { server, id } = await serveUntilPaying(folder, "--grace", "0");
  server.signal("SIGINT");
  const { code, printed } = await server.ended();
  expect(code).toBe(0);
  expect(printed).toContain("Another server takes them over");
  expect(folder.read("effects.log")).toBe("start 7\n");
  // Nobody has to wait for its lease to run out: whoever looks next finds it.
  expect(shown(folder, id).status).toBe("executing");
  await folder.withEngine((engine) => engine.work({ once: true }));
  expect(shown(folder, id).status).toBe("unknown");
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("a second %s ends the process at once with %i", async (signal, code) => {
  const folder = makeFolder();
  const { server, id } = await serveUntilPaying(folder);
  server.signal(signal);
  await server.until("waiting for running calls");
  server.signal(signal);
  expect(await server.ended()).toMatchObject({ code });
  expect(shown(folder, id).status).toBe("executing");
});

test("a server killed in the middle of a tool leaves a call that the next one shows as unknown, and runs not again", async () => {
  const folder = makeFolder();
  const { server, id } = await serveUntilPaying(folder);
  server.signal("SIGKILL");
  await server.ended();
  expect(shown(folder, id).status).toBe("executing");
  folder.write("go", "");
  const next = folder.start(SERVE);
  await next.until("Countersign is running at");
  // Once its lease has run out.
  const settled = await folder.withEngine((engine) =>
    engine.ledger.load({ confirmation: id }).then((found) => engine.finished(found?.call?.id ?? "")),
  );
  expect(settled.status).toBe("unknown");
  expect(folder.read("effects.log")).toBe("start 7\n");
  next.signal("SIGTERM");
  expect(await next.ended()).toMatchObject({ code: 0 });
});

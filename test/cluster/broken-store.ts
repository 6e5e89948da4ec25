import { once } from "node:events";
import { createServer, connect as dial, type Socket } from "node:net";
import { migratePostgres } from "../../src/stores/postgres/index.ts";
import { createEmptyDatabase } from "../support/postgres/database.ts";
import { execute } from "../support/postgres/server.ts";
import type { Resources } from "../support/resources.ts";

/** What a broken build would say instead, in as many bytes: the messages that carry it have a length. */
const VERSION_IGNORED = [
  ["d.version = c.version", "d.version = d.version"],
  ["d.head = c.head", "d.head = d.head"],
] as const;

/** Records of one kind never reach the log, nor what happened with them. */
const RECORD_LEFT_OUT = `
  create function countersign.leave_out() returns trigger language plpgsql as 'begin return null; end';
  create trigger leave_out before insert on countersign.log for each row
    when (new.kinds like '%"call-succeeded"%') execute function countersign.leave_out()`;

/** A commit does not ask whether the session has moved since it was read; or a line of the log is left out. */
export type FlawName = "version-ignored" | "record-left-out";

/** A ledger of its own, removed after the test, whose store has these flaws. */
export async function createBrokenLedger(
  resources: Resources,
  flaws: readonly FlawName[] = [],
): Promise<string> {
  const url = await createEmptyDatabase(resources);
  await migratePostgres(url);
  if (flaws.includes("record-left-out")) await execute(url, RECORD_LEFT_OUT);
  if (!flaws.includes("version-ignored")) return url;
  // The last line of defence, which keeps two lines from having the same place in a session.
  await execute(
    url,
    "drop index countersign.log_session; create index log_session on countersign.log (session, n)",
  );
  return throughForger(resources, url);
}

/** The same server, behind somebody who changes what statements say. */
async function throughForger(resources: Resources, url: string): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = dial(Number(new URL(url).port), "127.0.0.1");
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        target.destroy();
      });
    }
    client.on("data", (chunk) => target.write(forge(chunk)));
    target.pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  resources.add(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const forged = new URL(url);
  forged.port = String((server.address() as { readonly port: number }).port);
  return forged.href;
}

function forge(chunk: Buffer): Buffer {
  let text = chunk.toString("latin1");
  for (const [said, instead] of VERSION_IGNORED) text = text.replaceAll(said, instead);
  return Buffer.from(text, "latin1");
}

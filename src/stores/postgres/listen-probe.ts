import { randomBytes } from "node:crypto";
import type { Database, LoneConnection } from "./connection/index.ts";

const NOTIFY = "select pg_notify($1, '')";

/**
 * Does what is notified reach this connection? Behind a pooler that hands out connections per transaction it is the
 * pooler's connection that listens, for nobody. The signal aborts when a notification from elsewhere has arrived.
 */
export async function probeListening(connection: LoneConnection, elsewhere: Database): Promise<AbortSignal> {
  const heard = new AbortController();
  const channel = `countersign_${randomBytes(8).toString("hex")}`;
  connection.on("notification", (notification: { readonly channel: string }) => {
    if (notification.channel === channel) heard.abort();
  });
  await connection.query({ text: `listen ${channel}` });
  elsewhere.run(NOTIFY, [channel], { patient: false }).catch(() => {});
  return heard.signal;
}

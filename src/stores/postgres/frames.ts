import type { FrameRecord } from "../../engine/index.ts";
import { FRAME_COLUMNS, list } from "../sql/columns.ts";
import { toFrame } from "../sql/rows.ts";
import type { Database } from "./database.ts";

const LIVE = `select ${list(FRAME_COLUMNS)} from countersign.frames where session = $1 and status in ('ready', 'stepping', 'waiting')`;
const READY = "select id from countersign.frames where session = $1 and status = 'ready' order by id";

export async function readLiveFrames(database: Database, session: string): Promise<readonly FrameRecord[]> {
  return (await database.all(LIVE, [session], { shared: true })).map((row) => toFrame(row));
}

export async function readReadyFrames(database: Database, session: string): Promise<readonly string[]> {
  return (await database.all(READY, [session], { shared: true })).map(([id]) => id as string);
}

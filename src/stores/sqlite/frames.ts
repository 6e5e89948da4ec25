import type { FrameRecord } from "../../engine/index.ts";
import { FRAME_COLUMNS, list } from "../sql/columns.ts";
import { toFrame } from "../sql/rows.ts";
import type { Database } from "./database.ts";

const LIVE_FRAMES = `select ${list(FRAME_COLUMNS)} from frames indexed by frames_live where session = ? and over = 0`;
const READY_FRAMES =
  "select id from frames indexed by frames_live where session = ? and over = 0 and status = 'ready' order by id";

export function readLiveFrames(database: Database, session: string): readonly FrameRecord[] {
  return database.all(LIVE_FRAMES, [session]).map((row) => toFrame(row));
}

export function readReadyFrames(database: Database, session: string): readonly string[] {
  return database.all(READY_FRAMES, [session]).map(([id]) => id as string);
}

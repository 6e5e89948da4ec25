import type { CallRecord, ConfirmationWithCall, Ledger } from "../engine/index.ts";
import { redact } from "../engine/index.ts";
import type { Invocation } from "./command.ts";
import { cutTo, padTo } from "./display/text-width.ts";
import { shortDuration } from "./duration.ts";
import { EXIT } from "./exit-codes.ts";
import { shortId } from "./find-confirmation.ts";
import { inert, type Output } from "./output.ts";
import { SIGNAL_EXITS } from "./signals.ts";
import { commandLineFor } from "./wiring.ts";

/** Open confirmations, and calls that must be settled. */
export interface Pending {
  readonly items: readonly ConfirmationWithCall[];
  readonly next?: string;
  readonly unknown: readonly CallRecord[];
}

// The terminal's alternate screen, so that the old content comes back.
const ENTER = "\u001B[?1049h\u001B[?25l";
const LEAVE = "\u001B[?25h\u001B[?1049l";
const HOME = "\u001B[H";
const CLEAR_LINE = "\u001B[K";
const CLEAR_BELOW = "\u001B[J";
const CTRL_C = "\u0003";
// Also Ctrl-D and Escape; an arrow key starts with Escape but is not one.
const LEAVING: readonly string[] = ["q", "Q", "\u0004", "\u001B"];
const TICK_MS = 1_000;
const FRAME_ROWS = 5;
const URGENT_MS = 60_000;

const WIDTHS = { id: 8, tool: 20, user: 14, expires: 9 } as const;

/** A live table of the ledger until the person leaves. Drawn at every change and once a second. */
export async function watchPending(
  invocation: Invocation,
  ledger: Ledger,
  find: () => Promise<Pending>,
): Promise<number> {
  const { output } = invocation;
  const { promise: left, resolve: leave, reject: fail } = Promise.withResolvers<number>();
  let found = await find();
  const draw = (): void => output.write(drawing(invocation, found, Date.now()));
  const look = async (): Promise<void> => {
    found = await find();
    draw();
  };
  const stopKeys = onKeys(invocation.stdin, leave);
  const stopChanges = ledger.onChange(() => {
    look().catch(fail);
  });
  const timer = setInterval(draw, TICK_MS);
  process.stdout.on("resize", draw);
  output.write(ENTER);
  try {
    draw();
    return await left;
  } finally {
    process.stdout.off("resize", draw);
    clearInterval(timer);
    stopChanges();
    stopKeys();
    output.write(LEAVE);
  }
}

function onKeys(stdin: NodeJS.ReadStream, leave: (code: number) => void): () => void {
  const onData = (keys: Buffer): void => {
    const text = keys.toString();
    if (text.includes(CTRL_C)) leave(SIGNAL_EXITS.SIGINT);
    else if (LEAVING.some((key) => text === key)) leave(EXIT.ok);
  };
  const onTerminate = (): void => leave(SIGNAL_EXITS.SIGTERM);
  stdin.setRawMode(true);
  stdin.on("data", onData);
  stdin.resume();
  process.once("SIGTERM", onTerminate);
  return () => {
    process.off("SIGTERM", onTerminate);
    stdin.off("data", onData);
    stdin.setRawMode(false);
    stdin.pause();
  };
}

/** The content of the screen. */
function drawing(invocation: Invocation, { items, next, unknown }: Pending, now: number): string {
  const { output } = invocation;
  const { columns, rows } = output.size;
  const room = Math.max(1, rows - FRAME_ROWS - (unknown.length > 0 ? 1 : 0));
  const shown = items.slice(0, room);
  const hidden = items.length - shown.length + (next === undefined ? 0 : 1);
  const count =
    items.length === 0
      ? "Nothing waits for a decision."
      : `${items.length}${next === undefined ? "" : "+"} waiting`;
  const lines = [
    output.style("bold", count),
    output.style("dim", rowOf(["id", "tool", "asked by", "expires", "arguments"], columns)),
    ...shown.map((item) => itemRow(output, item, { columns, now })),
    ...(hidden > 0 ? [output.style("dim", "…")] : []),
    ...(unknown.length > 0
      ? [output.style("red", `${unknown.length} unknown: a person must settle them`)]
      : []),
    "",
    output.style("dim", cutTo(`q quits · ${commandLineFor(invocation)("approve ID").trim()}`, columns)),
  ];
  return `${HOME}${lines.map((line) => `${line}${CLEAR_LINE}`).join("\r\n")}${CLEAR_BELOW}`;
}

function itemRow(
  output: Output,
  { confirmation, call }: ConfirmationWithCall,
  { columns, now }: { readonly columns: number; readonly now: number },
): string {
  const { id, user, expiresAt } = confirmation;
  const left = expiresAt === undefined ? "-" : shortDuration(expiresAt - now);
  const args = inert(JSON.stringify(redact(call.args, call.secrets)), 400);
  const row = rowOf([shortId(id), inert(call.tool), inert(user), left, args], columns);
  return expiresAt !== undefined && expiresAt - now < URGENT_MS ? output.style("yellow", row) : row;
}

function rowOf(cells: readonly [string, string, string, string, string], columns: number): string {
  const [id, tool, user, expires, args] = cells;
  const fixed = [
    [id, WIDTHS.id],
    [tool, WIDTHS.tool],
    [user, WIDTHS.user],
    [expires, WIDTHS.expires],
  ] as const;
  const left = fixed.map(([text, width]) => padTo(cutTo(text, width), width)).join("  ");
  return cutTo(`${left}  ${args}`, columns);
}

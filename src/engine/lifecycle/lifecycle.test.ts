import { expect, test } from "vitest";
import type { CallStatus, ConfirmationStatus, FrameStatus } from "../ledger/index.ts";
import {
  CALL_TRANSITIONS,
  type CallCommand,
  CONFIRMATION_TRANSITIONS,
  type ConfirmationCommand,
  FIRST_STATUSES,
  FRAME_TRANSITIONS,
  type FrameCommand,
  isAnswered,
  nextCall,
  nextConfirmation,
  shownStatus,
} from "./lifecycle.ts";

// The whole of DESIGN.md section 2, written out a second time: a row a status, a column a command, `-` refused.
const CONFIRMATIONS = `
            approve   deny    expire   withdraw
requested   approved  denied  expired  cancelled
approved    -         -       -        cancelled
denied      -         -       -        -
expired     -         -       -        -
cancelled   -         -       -        -
`;

const CALLS_BEFORE = `
            approve  reask    refuse  deny    expire   cancel     claim      mark-unknown
waiting     ready    waiting  -       denied  expired  cancelled  -          unknown
ready       -        waiting  -       -       -        cancelled  executing  unknown
executing   -        -        -       -       -        -          -          unknown
suspended   ready    -        ready   denied  expired  cancelled  -          unknown
unknown     -        -        -       -       -        -          -          -
succeeded   -        -        -       -       -        -          -          -
failed      -        -        -       -       -        -          -          -
denied      -        -        -       -       -        -          -          -
expired     -        -        -       -       -        -          -          -
cancelled   -        -        -       -       -        -          -          -
`;

const CALLS_AFTER = `
            succeed    fail    word-denial  word-expiry  ask        lose     release  settle-succeeded  settle-failed  settle-retry
waiting     -          -       -            -            -          -        -        -                 -              -
ready       -          -       -            -            -          -        -        -                 -              -
executing   succeeded  failed  denied       expired      suspended  unknown  ready    -                 -              -
suspended   -          -       -            -            -          -        -        -                 -              -
unknown     succeeded  failed  denied       expired      -          -        ready    succeeded         failed         ready
succeeded   -          -       -            -            -          -        -        -                 -              -
failed      -          -       -            -            -          -        -        -                 -              -
denied      -          -       -            -            -          -        -        -                 -              -
expired     -          -       -            -            -          -        -        -                 -              -
cancelled   -          -       -            -            -          -        -        -                 -              -
`;

// A call whose body is a child frame: it waits for the child as it would for a person.
const CALLS_NESTED = `
            delegate   return     return-failed
waiting     -          -          -
ready       -          -          -
executing   suspended  -          -
suspended   -          succeeded  failed
unknown     -          -          -
succeeded   -          -          -
failed      -          -          -
denied      -          -          -
expired     -          -          -
cancelled   -          -          -
`;

const FRAMES = `
            step      take-over  wait     complete  yield  finish  fail    cancel
ready       stepping  -          -        -         -      -       -       cancelled
stepping    -         stepping   waiting  -         ready  done    failed  cancelled
waiting     -         -          -        ready     -      -       -       cancelled
done        -         -          -        -         -      -       -       -
failed      -         -          -        -         -      -       -       -
cancelled   -         -          -        -         -      -       -       -
`;

interface Cell {
  readonly status: string;
  readonly command: string;
  readonly next: string | undefined;
}

function cellsOf(table: string): readonly Cell[] {
  const [head = [], ...rows] = table
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  return rows.flatMap(([status = "", ...nexts]) =>
    head.map((command, column) => {
      const next = nexts[column];
      return { status, command, next: next === "-" ? undefined : next };
    }),
  );
}

const CALLS = [CALLS_BEFORE, CALLS_AFTER, CALLS_NESTED].flatMap(cellsOf);

test.each(cellsOf(CONFIRMATIONS))("a $status confirmation on $command: $next", (cell) => {
  expect(nextConfirmation(cell.status as ConfirmationStatus, cell.command as ConfirmationCommand)).toBe(
    cell.next,
  );
});

test.each(CALLS)("a $status call on $command: $next", ({ status, command, next }) => {
  expect(nextCall(status as CallStatus, command as CallCommand)).toBe(next);
});

test.each(cellsOf(FRAMES))("a $status frame on $command: $next", ({ status, command, next }) => {
  expect(FRAME_TRANSITIONS[status as FrameStatus][command as FrameCommand]).toBe(next);
});

test.each([
  ["confirmations", CONFIRMATION_TRANSITIONS, cellsOf(CONFIRMATIONS)],
  ["calls", CALL_TRANSITIONS, CALLS],
  ["frames", FRAME_TRANSITIONS, cellsOf(FRAMES)],
] as const)("the table of %s has no status and no transition beyond those above", (_, table, cells) => {
  const written = cells
    .filter(({ next }) => next !== undefined)
    .map(({ status, command, next }) => `${status} ${command} ${next}`);
  const found = Object.entries(table).flatMap(([status, row]: [string, Record<string, string>]) =>
    Object.entries(row).map(([command, next]) => `${status} ${command} ${next}`),
  );
  expect(found.toSorted()).toEqual(written.toSorted());
  expect(Object.keys(table).toSorted()).toEqual([...new Set(cells.map(({ status }) => status))].toSorted());
});

test("a call begins with its question, its claim or its answer, everything else open", () => {
  expect(FIRST_STATUSES).toEqual({
    call: ["waiting", "executing", "succeeded", "failed", "denied"],
    confirmation: ["requested"],
    frame: ["ready", "stepping"],
  });
});

const CALL_STATUSES = Object.keys(CALL_TRANSITIONS) as CallStatus[];

test("a call has its answer exactly when nothing more can happen to it", () => {
  const final = CALL_STATUSES.filter((status) => Object.keys(CALL_TRANSITIONS[status]).length === 0);
  expect(CALL_STATUSES.filter(isAnswered)).toEqual(final);
  expect(final).toEqual(["succeeded", "failed", "denied", "expired", "cancelled"]);
});

test.each(["requested", "denied", "expired", "cancelled"] as const)(
  "a confirmation that is %s shows its own status, whatever became of the call",
  (status) => {
    expect(new Set(CALL_STATUSES.map((call) => shownStatus(status, call)))).toEqual(new Set([status]));
  },
);

test("an approved confirmation shows what became of the call", () => {
  const shown = CALL_STATUSES.map((call) => [call, shownStatus("approved", call)]);
  expect(Object.fromEntries(shown)).toEqual({
    waiting: "approved",
    ready: "approved",
    executing: "executing",
    suspended: "approved",
    unknown: "unknown",
    succeeded: "succeeded",
    failed: "failed",
    denied: "approved",
    expired: "approved",
    cancelled: "cancelled",
  });
});

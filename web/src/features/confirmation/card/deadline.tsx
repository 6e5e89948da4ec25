import type { ReactNode } from "react";
import { useNow } from "../../../ui/clock.ts";
import { full, span } from "../../../ui/times.ts";

const SOON_MS = 5 * 60_000;
const NOW_MS = 60_000;

/** How long there is left to decide: amber in the last five minutes, red in the last one. */
export function Deadline({ at }: { readonly at: string }): ReactNode {
  const left = Date.parse(at) - useNow();
  return (
    <time className={`deadline${urgency(left)}`} dateTime={at} title={full(at)}>
      {left > 0 ? `${span(left)} left` : "time is up"}
    </time>
  );
}

function urgency(left: number): string {
  if (left >= SOON_MS) return "";
  return left < NOW_MS ? " deadline-soon deadline-now" : " deadline-soon";
}

import type { ReactNode } from "react";
import { useNow } from "../../../ui/clock.ts";
import { full, span } from "../../../ui/times.ts";

const SOON_MS = 5 * 60_000;

/** How long there is left to decide. */
export function Deadline({ at }: { readonly at: string }): ReactNode {
  const left = Date.parse(at) - useNow();
  return (
    <time className={left < SOON_MS ? "deadline deadline-soon" : "deadline"} dateTime={at} title={full(at)}>
      {left > 0 ? `${span(left)} left` : "time is up"}
    </time>
  );
}

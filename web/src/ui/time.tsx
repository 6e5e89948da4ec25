import type { ReactNode } from "react";
import { useNow } from "./clock.ts";
import { ago, full, until, zoned } from "./times.ts";

/** When something happened: how long ago, and on pointing at it the exact time. */
export function Ago({ at }: { readonly at: string }): ReactNode {
  const now = useNow();
  return (
    <time dateTime={at} title={full(at)}>
      {ago(now - Date.parse(at))}
    </time>
  );
}

/** A time in the reader's zone. */
export function At({ at }: { readonly at: string }): ReactNode {
  return (
    <time dateTime={at} title={at}>
      {zoned(at)}
    </time>
  );
}

/** When something will happen, at the beginning of a sentence. */
export function Until({ at }: { readonly at: string }): ReactNode {
  const now = useNow();
  return (
    <time dateTime={at} title={full(at)}>
      {until(at, now)}
    </time>
  );
}

import type { ReactNode } from "react";
import { useNow } from "./clock.ts";
import { ago, full, timeOfDay, until, zoned } from "./times.ts";

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

/** Says how old what is shown is; nothing where that need not be said. */
export function AsOf({ at }: { readonly at: string | undefined }): ReactNode {
  if (at === undefined) return null;
  return (
    <span role="status">
      Data as of{" "}
      <time dateTime={at} title={full(at)}>
        {timeOfDay(at)}
      </time>
    </span>
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

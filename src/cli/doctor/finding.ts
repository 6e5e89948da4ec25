/** What one look found. */
export interface Finding {
  /** What was looked at, in a word. */
  readonly about: string;
  readonly status: "ok" | "warn" | "fail";
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** Nothing to do. */
export function ok(about: string, message: string): Finding {
  return { about, status: "ok", message };
}

/** It works, and somebody should know. */
export function warn(about: string, message: string, advice: string): Finding {
  return { about, status: "warn", message, advice };
}

/** It does not work, or must not be used like this; the exit code says so too. */
export function fail(about: string, message: string, advice: string): Finding {
  return { about, status: "fail", message, advice };
}

/** The result of one check. */
export interface Finding {
  /** What was checked, in one word. */
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

/** A warning: it works. */
export function warn(about: string, message: string, advice: string): Finding {
  return { about, status: "warn", message, advice };
}

/** An error: it does not work, or is not safe; the exit code is not 0. */
export function fail(about: string, message: string, advice: string): Finding {
  return { about, status: "fail", message, advice };
}

import type { ReactNode } from "react";

/** Marks who wrote a text, so that nobody takes the model's for the author's. */
export function Voice({
  of,
  children,
}: {
  readonly of: "author" | "model" | "server" | "person";
  readonly children: ReactNode;
}): ReactNode {
  return <div className={`voice voice-${of}`}>{children}</div>;
}

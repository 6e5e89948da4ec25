import type { ReactNode } from "react";

/** The mark: a signature line, countersigned. */
export function Mark(): ReactNode {
  return (
    <svg className="mark" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" />
      <path d="M6.5 12.2l3.9 3.9L17.6 8" />
      <path className="mark-line" d="M6.5 19h11" />
    </svg>
  );
}

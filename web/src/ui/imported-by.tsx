import type { ReactNode } from "react";
import { Words } from "./words.tsx";

/** Whose words these are that somebody brought along: theirs, until proven otherwise. */
export function ImportedBy({ by, author }: { readonly by: string; readonly author: string }): ReactNode {
  return (
    <span className="imported">
      Imported by <Words text={by} maxLength={60} />, who says it is from{" "}
      <Words text={author} maxLength={60} />
    </span>
  );
}

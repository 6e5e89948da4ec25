import type { ReactNode } from "react";
import type { Status } from "../../api/types.ts";
import { statusWord } from "./status-words.ts";

export function StatusBadge({ status }: { readonly status: Status }): ReactNode {
  const { word, tone } = statusWord(status);
  return <span className={`badge badge-${tone}`}>{word}</span>;
}

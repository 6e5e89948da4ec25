import type { ReactNode } from "react";
import type { Confirmation, Status } from "../../api/types.ts";
import { statusWord } from "./status-words.ts";

export interface StatusBadgeProps {
  readonly status: Status;
  /** A person said so; nobody saw it. */
  readonly settlement?: Confirmation["settlement"];
}

export function StatusBadge({ status, settlement }: StatusBadgeProps): ReactNode {
  const { word, tone } = statusWord(status);
  const isSettled = settlement !== undefined && settlement.as !== "retry";
  return <span className={`badge badge-${tone}`}>{isSettled ? `${word}, settled` : word}</span>;
}

import { memo, type ReactNode } from "react";
import type { Confirmation } from "../../api/types.ts";
import { to } from "../../router.ts";
import { Face } from "../../ui/face.tsx";
import { Ago } from "../../ui/time.tsx";
import { plainWords, Words } from "../../ui/words.tsx";
import { Deadline } from "../confirmation/card/deadline.tsx";
import { questionText } from "../confirmation/card/question.ts";
import { StatusBadge } from "../confirmation/status-badge.tsx";

export interface InboxRowProps {
  readonly confirmation: Confirmation;
  readonly position: number;
  readonly count: number;
  readonly isOpen: boolean;
  readonly isPicked: boolean;
  /** An answer to it is about to be sent: "Approving". */
  readonly verb: string | undefined;
  readonly onPick: (id: string, isRange: boolean) => void;
}

/** One line of the inbox: the question; beneath it who asks, with which tool; how long there is. */
export const InboxRow = memo(function InboxRow(props: InboxRowProps): ReactNode {
  const { confirmation, position, count, isOpen, isPicked, verb, onPick } = props;
  const { id, tool, agent, user, status, can, truncated } = confirmation;
  const isWaiting = status === "requested";
  return (
    <li
      className={`row-item${isOpen ? " row-open" : ""}${isWaiting ? "" : " row-done"}${verb === undefined ? "" : " row-held"}`}
      aria-setsize={count}
      aria-posinset={position + 1}
      style={{ transform: `translateY(${position * ROW_HEIGHT}px)` }}
    >
      <label className="row-pick">
        <input
          type="checkbox"
          aria-label={`Select ${plainWords(tool)} for ${plainWords(user)}`}
          checked={isPicked}
          disabled={!isWaiting || !can.decide || verb !== undefined}
          onChange={({ nativeEvent }) => onPick(id, (nativeEvent as unknown as MouseEvent).shiftKey)}
        />
      </label>
      <a
        className="row-link"
        href={to("confirmations", id)}
        data-row={id}
        aria-current={isOpen ? "true" : undefined}
      >
        <span className="row-first">
          <Words text={questionText(confirmation)} />
        </span>
        <span className="row-second">
          <Face name={user} />
          <span className="row-from">
            <Words text={user} maxLength={120} /> ·{" "}
            <span className="row-tool">
              <Words text={tool} maxLength={200} />
            </span>{" "}
            · <Words text={agent} maxLength={120} />
            {truncated === true ? " · long" : null}
          </span>
        </span>
        <span className="row-side">
          {verb === undefined ? (
            <RowSide confirmation={confirmation} />
          ) : (
            <span className="badge badge-busy">{verb}</span>
          )}
        </span>
      </a>
    </li>
  );
});

function RowSide({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { status, expiresAt, requestedAt } = confirmation;
  if (status !== "requested") return <StatusBadge status={status} settlement={confirmation.settlement} />;
  return expiresAt === undefined ? <Ago at={requestedAt} /> : <Deadline at={expiresAt} />;
}

/** All rows are of one height, so that ten thousand of them cost what is in view. */
export const ROW_HEIGHT = 68;

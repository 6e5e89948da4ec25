import { type ReactNode, useState } from "react";
import type { Confirmation } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { useStore } from "../../ui/store.ts";
import { held } from "../confirmation/decide/held.ts";
import { ReviewDialog } from "../confirmation/decide/review-dialog.tsx";
import { MOST } from "./board.ts";
import type { Rows } from "./use-rows.ts";

export interface ListHeadProps {
  readonly view: Rows;
  /** Before that, nobody knows how many there are. */
  readonly isLoaded: boolean;
  /** More waits than is kept here. */
  readonly isPartial: boolean;
  /** Only some of it is shown, by a search or a filter. */
  readonly isFiltered: boolean;
  readonly picked: ReadonlySet<string>;
  readonly onPickAll: (ids: readonly string[]) => void;
  readonly onClear: () => void;
}

/** One line of a fixed height above the list: whatever it tells, no row moves. */
export function ListHead(props: ListHeadProps): ReactNode {
  const { view, picked, onPickAll, onClear } = props;
  const [isOpen, setOpen] = useState(false);
  // What is about to be sent is answered.
  const answered = new Set(useStore(held).flatMap(({ about }) => about));
  const open = view.rows.filter(
    ({ id, status, can }) => status === "requested" && can.decide && !answered.has(id),
  );
  const chosen = open.filter(({ id }) => picked.has(id));
  return (
    <div className="list-head">
      {chosen.length === 0 ? (
        <Counted {...props} />
      ) : (
        <Chosen
          chosen={chosen}
          open={open}
          onPickAll={onPickAll}
          onClear={onClear}
          onReview={() => setOpen(true)}
        />
      )}
      {isOpen ? (
        <ReviewDialog confirmations={chosen} onClose={() => setOpen(false)} onAnswered={onClear} />
      ) : null}
    </div>
  );
}

/** Nobody reads more at once, and the page would stand still while it draws them. */
const MOST_REVIEWED = 100;

interface ChosenProps extends Pick<ListHeadProps, "onPickAll" | "onClear"> {
  readonly chosen: readonly Confirmation[];
  /** Those that can be chosen. */
  readonly open: readonly Confirmation[];
  readonly onReview: () => void;
}

/** How many are selected, and what can be done with them. */
function Chosen({ chosen, open, onPickAll, onClear, onReview }: ChosenProps): ReactNode {
  const all = open.slice(0, MOST_REVIEWED);
  const isAll = all.length === open.length;
  const off =
    chosen.length > MOST_REVIEWED
      ? `${chosen.length.toLocaleString()} selected, at most ${MOST_REVIEWED}`
      : undefined;
  return (
    <>
      <span role="status">{off ?? `${chosen.length} selected`}</span>
      <span className="row">
        {chosen.length >= all.length ? null : (
          <Button
            small
            look="quiet"
            label={`Select ${isAll ? "all" : "the first"} ${all.length}`}
            onClick={() => onPickAll(all.map(({ id }) => id))}
          >
            {isAll ? "All" : "First"} {all.length}
          </Button>
        )}
        <Button small look="quiet" onClick={onClear}>
          Clear
        </Button>
        <Button small look="ink" off={off} onClick={onReview}>
          Review…
        </Button>
      </span>
    </>
  );
}

/** How many wait, what was decided meanwhile, and what is new. */
function Counted({ view, isLoaded, isPartial, isFiltered }: ListHeadProps): ReactNode {
  const { rows, waiting, decided } = view;
  const isCut = isPartial && rows.length - decided >= MOST;
  const isKnown = isLoaded || rows.length > 0;
  return (
    <>
      <span>{isCut ? SHOWN_OF_MORE : isKnown ? countOf(rows, decided, isFiltered) : ""}</span>
      <span className="row">
        {decided === 0 ? null : (
          <Button small look="quiet" onClick={view.clearDecided}>
            Clear {decided.toLocaleString()} decided
          </Button>
        )}
        {waiting === 0 ? null : (
          <Button small look="ink" onClick={view.letIn}>
            {waiting.toLocaleString()} new
          </Button>
        )}
      </span>
    </>
  );
}

const SHOWN_OF_MORE = `Only the ${MOST.toLocaleString()} nearest deadlines are shown`;

function countOf(rows: readonly Confirmation[], decided: number, isFiltered: boolean): string {
  const order = rows.some(({ expiresAt }) => expiresAt) ? ", nearest deadline first" : "";
  return `${(rows.length - decided).toLocaleString()} ${isFiltered ? "found" : "waiting"}${order}`;
}

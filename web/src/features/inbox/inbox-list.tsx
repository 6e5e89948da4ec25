import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Confirmation } from "../../api/types.ts";
import { useStore } from "../../ui/store.ts";
import { held, heldFor } from "../confirmation/decide/held.ts";
import { InboxRow, ROW_HEIGHT } from "./inbox-row.tsx";
import { step } from "./triage.ts";

/** Rows beyond each end of what is in view. */
const OVERSCAN = 4;
/** Rows come and go so many at a time: most frames of a scroll then draw nothing anew. */
const AT_ONCE = 4;

export interface InboxListProps {
  readonly rows: readonly Confirmation[];
  readonly openId: string | undefined;
  readonly picked: ReadonlySet<string>;
  readonly onPick: (id: string, isRange: boolean) => void;
  /** Pointer or focus came in, or left. */
  readonly onBusy: (isBusy: boolean) => void;
}

/** The list, of which only what is in view is on the page. */
export function InboxList({ rows, openId, picked, onPick, onBusy }: InboxListProps): ReactNode {
  const acts = useStore(held);
  const scroller = useRef<HTMLDivElement>(null);
  const [drawn, setDrawn] = useState<Range>({ first: 0, last: 20 });
  const draw = (element: HTMLElement): void => {
    const next = rangeIn(element);
    setDrawn((now) => (now.first === next.first && now.last === next.last ? now : next));
  };
  const inside = useRef({ pointer: false, focus: false });
  const mark = (change: Partial<typeof inside.current>): void => {
    inside.current = { ...inside.current, ...change };
    onBusy(inside.current.pointer || inside.current.focus);
  };
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const measure = new ResizeObserver(() => draw(element));
    measure.observe(element);
    return () => measure.disconnect();
  }, []);
  useKeepInView(scroller, rows, openId);
  return (
    <div
      className="list-scroll"
      ref={scroller}
      onScroll={({ currentTarget }) => draw(currentTarget)}
      onKeyDown={(event) => {
        const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : undefined;
        if (by === undefined) return;
        event.preventDefault();
        step(openId, by);
      }}
      onPointerEnter={({ pointerType }) => mark({ pointer: pointerType === "mouse" })}
      onPointerLeave={() => mark({ pointer: false })}
      onFocus={() => mark({ focus: true })}
      onBlur={({ currentTarget, relatedTarget }) =>
        currentTarget.contains(relatedTarget) || mark({ focus: false })
      }
    >
      <ol className="list" aria-label="Waiting confirmations" style={{ height: rows.length * ROW_HEIGHT }}>
        {rows.slice(drawn.first, drawn.last).map((confirmation, index) => (
          <InboxRow
            key={confirmation.id}
            confirmation={confirmation}
            position={drawn.first + index}
            count={rows.length}
            isOpen={confirmation.id === openId}
            isPicked={picked.has(confirmation.id)}
            verb={heldFor(acts, confirmation.id)?.verb}
            onPick={onPick}
          />
        ))}
      </ol>
    </div>
  );
}

interface Range {
  readonly first: number;
  readonly last: number;
}

function rangeIn({ scrollTop, clientHeight }: HTMLElement): Range {
  const top = Math.floor(scrollTop / ROW_HEIGHT / AT_ONCE) * AT_ONCE;
  const bottom = Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT / AT_ONCE) * AT_ONCE;
  return { first: Math.max(0, top - OVERSCAN), last: bottom + OVERSCAN };
}

/** Scrolls the opened row into view when it is opened, and only then. */
function useKeepInView(
  scroller: React.RefObject<HTMLDivElement | null>,
  rows: readonly Confirmation[],
  openId: string | undefined,
): void {
  const latest = useRef(rows);
  latest.current = rows;
  useEffect(() => {
    const element = scroller.current;
    const index = latest.current.findIndex(({ id }) => id === openId);
    if (element === null || index < 0) return;
    const top = index * ROW_HEIGHT;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW_HEIGHT > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + ROW_HEIGHT - element.clientHeight;
    }
  }, [scroller, openId]);
}

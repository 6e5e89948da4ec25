import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Confirmation } from "../../api/types.ts";
import { useStore } from "../../ui/store.ts";
import { held, heldFor } from "../confirmation/decide/held.ts";
import { InboxRow, ROW_HEIGHT } from "./inbox-row.tsx";
import { step } from "./triage.ts";

const OVERSCAN = 6;

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
  const [view, setView] = useState({ top: 0, height: 800 });
  const inside = useRef({ pointer: false, focus: false });
  const mark = (change: Partial<typeof inside.current>): void => {
    inside.current = { ...inside.current, ...change };
    onBusy(inside.current.pointer || inside.current.focus);
  };
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const measure = new ResizeObserver(() =>
      setView({ top: element.scrollTop, height: element.clientHeight }),
    );
    measure.observe(element);
    return () => measure.disconnect();
  }, []);
  useKeepInView(scroller, rows, openId);
  const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - OVERSCAN);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW_HEIGHT) + OVERSCAN);
  return (
    <div
      className="list-scroll"
      ref={scroller}
      onScroll={({ currentTarget }) =>
        setView({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })
      }
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
        {rows.slice(first, last).map((confirmation, index) => (
          <InboxRow
            key={confirmation.id}
            confirmation={confirmation}
            position={first + index}
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

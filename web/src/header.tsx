import { type ReactNode, useMemo } from "react";
import type { Connection } from "./api/feed.ts";
import type { Me } from "./api/types.ts";
import { FailedDeliveryNotice } from "./features/deliveries/failed-delivery-notice.tsx";
import { board } from "./features/inbox/board.ts";
import { notifying, setNotifying } from "./features/inbox/notifications.ts";
import { type Route, to } from "./router.ts";
import { Button } from "./ui/button.tsx";
import { Face } from "./ui/face.tsx";
import { Mark } from "./ui/mark.tsx";
import { shortCount } from "./ui/short-count.ts";
import { useStore } from "./ui/store.ts";
import { Words } from "./ui/words.tsx";

export interface HeaderProps {
  readonly route: Route;
  readonly waiting: number;
  readonly onHelp: () => void;
  /** Opens the list of all pages and commands. */
  readonly onMore: () => void;
}

const PAGES = [
  ["inbox", "Inbox", ""],
  ["mine", "My requests", "mine"],
  ["history", "History", "history"],
  ["chat", "Chat", "chat"],
  ["numbers", "Numbers", "numbers"],
] as const;

export function Header({ route, waiting, onHelp, onMore }: HeaderProps): ReactNode {
  const state = useStore(board);
  const unknown = useMemo(
    () => [...state.confirmations.values()].filter(({ status }) => status === "unknown").length,
    [state],
  );
  return (
    <header className="bar">
      <a className="brand" href={to()}>
        <Mark />
        Countersign
      </a>
      <nav className="tabs" aria-label="Pages">
        {PAGES.map(([page, name, path]) => (
          <a
            key={page}
            className={`tab tab-${page}`}
            href={path === "" ? to() : to(path)}
            aria-current={route.page === page ? "page" : undefined}
          >
            {name}
            {page === "inbox" ? <Count of={state.loaded || waiting > 0 ? waiting : undefined} /> : null}
          </a>
        ))}
        <button type="button" className="tab tab-more" aria-haspopup="dialog" onClick={onMore}>
          More…
        </button>
        {/* After all others, which stay where they are when it appears. */}
        <a
          className={`tab tab-unknown${unknown === 0 ? " tab-idle" : ""}`}
          href={to("unknown")}
          aria-current={route.page === "unknown" ? "page" : undefined}
        >
          Unknown
          <Count of={unknown} />
        </a>
        <FailedDeliveryNotice isHere={route.page === "deliveries"} />
      </nav>
      <div className="bar-end">
        <ConnectionState />
        {/* All at once: a button that moves when the person's name arrives is missed by a click. */}
        {state.me === undefined ? null : (
          <>
            <span className="notify">
              <NotifyButton />
            </span>
            <Button look="quiet" small label="Keys" onClick={onHelp}>
              ?
            </Button>
            <Person me={state.me} />
          </>
        )}
      </div>
    </header>
  );
}

/** Always as wide, so that the other tabs stay where they are: before it is known, and whatever it is. */
function Count({ of }: { readonly of: number | undefined }): ReactNode {
  if (of === undefined) return <span className="tab-room" />;
  return (
    <span className={of === 0 ? "tab-none" : "tab-count"} title={of.toLocaleString()}>
      {shortCount(of)}
    </span>
  );
}

const STATES: Readonly<Record<Connection, string>> = {
  connecting: "Connecting…",
  live: "Live",
  reconnecting: "Reconnecting…",
  offline: "Offline",
  refused: "Not live: the server refuses the live feed",
};

function ConnectionState(): ReactNode {
  const { connection } = useStore(board);
  return (
    <span className={`connection connection-${connection}`} role="status">
      {STATES[connection]}
    </span>
  );
}

function NotifyButton(): ReactNode {
  const isOn = useStore(notifying);
  if (!("Notification" in window)) return null;
  return (
    <Button
      look="quiet"
      small
      pressed={isOn}
      label={isOn ? "Notifying on the desktop" : "Notify on the desktop"}
      onClick={() => setNotifying(!isOn).catch(() => undefined)}
    >
      {isOn ? "Notifying" : "Notify"}
    </Button>
  );
}

function Person({ me }: { readonly me: Me }): ReactNode {
  return (
    <a className="person" href={to("login")}>
      <Face name={me.principal.id} />
      <Words text={me.principal.id} maxLength={40} />
      {me.principal.authenticated ? null : <span className="muted small"> unauthenticated</span>}
    </a>
  );
}

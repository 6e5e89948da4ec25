import "./app.css";
import { type ComponentType, lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { undoLast } from "./features/confirmation/decide/held.ts";
import { board } from "./features/inbox/board.ts";
import { useNotifications } from "./features/inbox/notifications.ts";
import { useWaiting } from "./features/inbox/use-waiting.ts";
import { LoginDialog } from "./features/login/login-dialog.tsx";
import { useOtherTabs } from "./features/login/use-other-tabs.ts";
import { NoticesBanner } from "./features/notices/notices-banner.tsx";
import { usePush } from "./features/push/use-push.ts";
import { Header } from "./header.tsx";
import { KeysDialog } from "./keys-dialog.tsx";
import { Palette } from "./palette.tsx";
import { type PlainPage, type Route, useRoute } from "./router.ts";
import { InboxPage } from "./routes/inbox.tsx";
import { LoginPage } from "./routes/login.tsx";
import { Strip } from "./strip.tsx";
import { FaultWall } from "./ui/fault-wall.tsx";
import { useKeys } from "./ui/keys.ts";
import { shortCount } from "./ui/short-count.ts";

const ChatPage = lazy(() => import("./routes/chat.tsx").then(({ ChatPage: page }) => ({ default: page })));
const DelegationsPage = lazy(() =>
  import("./routes/delegations.tsx").then(({ DelegationsPage: page }) => ({ default: page })),
);
const DeliveriesPage = lazy(() =>
  import("./routes/deliveries.tsx").then(({ DeliveriesPage: page }) => ({ default: page })),
);
const GrantsPage = lazy(() =>
  import("./routes/grants.tsx").then(({ GrantsPage: page }) => ({ default: page })),
);
const HistoryPage = lazy(() =>
  import("./routes/history.tsx").then(({ HistoryPage: page }) => ({ default: page })),
);
const MinePage = lazy(() => import("./routes/mine.tsx").then(({ MinePage: page }) => ({ default: page })));
const NotificationsPage = lazy(() =>
  import("./routes/notifications.tsx").then(({ NotificationsPage: page }) => ({ default: page })),
);
const NumbersPage = lazy(() =>
  import("./routes/numbers.tsx").then(({ NumbersPage: page }) => ({ default: page })),
);
const PolicyPage = lazy(() =>
  import("./routes/policy.tsx").then(({ PolicyPage: page }) => ({ default: page })),
);
const UnknownPage = lazy(() =>
  import("./routes/unknown.tsx").then(({ UnknownPage: page }) => ({ default: page })),
);

/** The whole page. */
export function App(): ReactNode {
  const route = useRoute();
  const [isHelping, setHelping] = useState(false);
  const [isFinding, setFinding] = useState(false);
  const waiting = useWaiting();
  useEffect(() => board.start(), []);
  useOtherTabs();
  useEffect(() => {
    document.title = waiting === 0 ? "Countersign" : `(${shortCount(waiting)}) Countersign`;
  }, [waiting]);
  useNotifications();
  usePush();
  useKeys({ "?": () => setHelping(true), u: undoLast, "mod+k": () => setFinding(true) });
  return (
    <div className="app">
      <Header
        route={route}
        waiting={waiting}
        onHelp={() => setHelping(true)}
        onMore={() => setFinding(true)}
      />
      <div className="app-notice">
        <NoticesBanner />
      </div>
      <FaultWall key={route.page}>
        <Suspense fallback={<main className="page" aria-busy="true" />}>
          <Page route={route} />
        </Suspense>
      </FaultWall>
      <Strip page={route.page} />
      <LoginDialog page={route.page} />
      {isFinding ? <Palette onClose={() => setFinding(false)} /> : null}
      {isHelping ? <KeysDialog onClose={() => setHelping(false)} /> : null}
    </div>
  );
}

/** Pages whose address is only their name. */
const PLAIN: { readonly [page in PlainPage]: ComponentType } = {
  mine: MinePage,
  history: HistoryPage,
  unknown: UnknownPage,
  numbers: NumbersPage,
  grants: GrantsPage,
  delegations: DelegationsPage,
  policy: PolicyPage,
  deliveries: DeliveriesPage,
  notifications: NotificationsPage,
  login: LoginPage,
};

function Page({ route }: { readonly route: Route }): ReactNode {
  if (route.page === "inbox") return <InboxPage id={route.id} />;
  if (route.page === "chat") return <ChatPage app={route.app} session={route.session} user={route.user} />;
  const Plain = PLAIN[route.page];
  return <Plain />;
}

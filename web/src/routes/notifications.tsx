import type { NotificationSettings } from "countersign/client";
import { type ReactNode, useEffect, useState } from "react";
import { ask, client, type Problem } from "../api/client.ts";
import { board } from "../features/inbox/board.ts";
import { SettingsForm } from "../features/notifications/settings-form.tsx";
import { Empty } from "../ui/empty.tsx";
import { useStore } from "../ui/store.ts";

/** How whoever is logged in is told of questions. */
export function NotificationsPage(): ReactNode {
  const { me } = useStore(board);
  const [settings, setSettings] = useState<NotificationSettings | undefined>(undefined);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  useEffect(() => {
    ask(client.notifications.get()).then(
      (found) => (found.ok ? setSettings(found.value) : setProblem(found.problem)),
      () => undefined,
    );
  }, []);
  return (
    <main className="page notifications">
      <h1>Notifications</h1>
      <p className="muted">
        These settings are yours, for all your logins and devices. Every request is in the inbox, whatever you
        set here.
      </p>
      {problem === undefined ? null : <Empty title="The settings cannot be loaded">{problem.detail}</Empty>}
      {settings === undefined || me === undefined ? null : (
        <SettingsForm settings={settings} channels={me.channels} />
      )}
    </main>
  );
}

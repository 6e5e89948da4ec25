import type { ReactNode } from "react";
import { board } from "../features/inbox/board.ts";
import { logOut } from "../features/login/log-in.ts";
import { LoginForm } from "../features/login/login-form.tsx";
import { to } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { useStore } from "../ui/store.ts";
import { Words } from "../ui/words.tsx";

/** Who is logged in here, and the way in and out. */
export function LoginPage(): ReactNode {
  const { me } = useStore(board);
  return (
    <main className="page page-narrow">
      <h1>Login</h1>
      {me === undefined ? (
        <LoginForm />
      ) : (
        <>
          <p>
            You are <Words text={me.principal.id} />
            {me.principal.authenticated ? "." : ", not authenticated: this server does not require a login."}
          </p>
          <div className="row">
            <a className="button" href={to()}>
              To the inbox
            </a>
            <a className="button" href={to("delegations")}>
              Out of office
            </a>
            <a className="button" href={to("notifications")}>
              Notifications
            </a>
            {me.principal.authenticated ? (
              <Button onClick={() => logOut().catch(() => undefined)}>Log out</Button>
            ) : null}
          </div>
        </>
      )}
    </main>
  );
}

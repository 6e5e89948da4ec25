import type { ReactNode } from "react";
import { loginWall } from "../../api/login-wall.ts";
import type { Route } from "../../router.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { useStore } from "../../ui/store.ts";
import { board } from "../inbox/board.ts";
import { LoginForm } from "./login-form.tsx";

/** Asks for a login over the page as it is: what was typed stays, and what was sent goes on afterwards. */
export function LoginDialog({ page }: { readonly page: Route["page"] }): ReactNode {
  const { me } = useStore(board);
  const isRefused = useStore(loginWall);
  // The page of the login has the form already.
  if (!isRefused || (page === "login" && me === undefined)) return null;
  return (
    <Dialog title="Log in to continue">
      {me === undefined ? null : <p className="muted">Nothing you have typed is lost.</p>}
      <LoginForm />
    </Dialog>
  );
}

import type { ReactNode } from "react";
import { loginWall } from "../../api/login-wall.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { useStore } from "../../ui/store.ts";
import { board } from "../inbox/board.ts";
import { LoginForm } from "./login-form.tsx";

/** Asks for a login over the page as it is: what was typed stays, and what was sent goes on afterwards. */
export function LoginDialog(): ReactNode {
  const { me } = useStore(board);
  if (!useStore(loginWall)) return null;
  return (
    <Dialog title="Log in to continue">
      {me === undefined ? null : <p className="muted">Nothing you have typed is lost.</p>}
      <LoginForm />
    </Dialog>
  );
}

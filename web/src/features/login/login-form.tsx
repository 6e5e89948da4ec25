import { type ReactNode, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { LOGIN_ADDRESS, logIn } from "./log-in.ts";

/** Logs in here and now; or elsewhere, in another tab, and goes on by itself when that is done. */
export function LoginForm(): ReactNode {
  const [text, setText] = useState("");
  const [fault, setFault] = useState<string>();
  const submit = (): void => {
    logIn(text).then(setFault, () => setFault("The server cannot be reached."));
  };
  return (
    <form
      className="login"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label className="field">
        <span className="label">Token, or the login link that the server printed</span>
        <input
          className="input"
          type="password"
          autoComplete="current-password"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {fault === undefined ? null : (
        <p className="field-fault" role="alert">
          {fault}
        </p>
      )}
      <Button look="ink" off={text.trim() === "" ? "Type a token first." : undefined} onClick={submit}>
        Log in
      </Button>
      <div className="login-elsewhere">
        <a className="button" href={LOGIN_ADDRESS} target="_blank" rel="noopener">
          Log in on the server’s own page
        </a>
        <p className="field-note">Opens a new tab. This page continues after you log in.</p>
      </div>
    </form>
  );
}

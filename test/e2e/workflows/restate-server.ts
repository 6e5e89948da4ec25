import { spawn } from "node:child_process";
import { join } from "node:path";
import { freePort } from "../../support/postgres/server.ts";
import type { Resources } from "../../support/resources.ts";

/** Restate's server, with everything that it stores in a folder of its own. */
export async function startRestate(
  resources: Resources,
  peer: string,
): Promise<{ readonly ingress: string; readonly admin: string }> {
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()].map(
    (port) => `127.0.0.1:${port}`,
  );
  const name = `restate-server-${process.platform}-${process.arch}`;
  const program = join(peer, "node_modules", "@restatedev", name, "bin", "restate-server");
  const child = spawn(program, ["--base-dir", await resources.folder(), "--node-name", "test"], {
    stdio: "ignore",
    env: {
      ...process.env,
      RESTATE_INGRESS__BIND_ADDRESS: ingress,
      RESTATE_ADMIN__BIND_ADDRESS: admin,
      RESTATE_BIND_ADDRESS: node,
      RESTATE_ADVERTISED_ADDRESS: `http://${node}`,
      DO_NOT_TRACK: "1",
    },
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  resources.add(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { ingress: `http://${ingress}`, admin: `http://${admin}` };
}

export async function post(
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** Whether Restate takes the service; not while one of the two is still starting. */
export async function isRegistered(admin: string, port: number): Promise<boolean> {
  const told = await post(`${admin}/deployments`, { uri: `http://127.0.0.1:${port}` }).catch(() => undefined);
  await told?.text();
  return told?.ok === true;
}

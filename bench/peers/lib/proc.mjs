// A contender in a process of its own, driven over IPC.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const WORKER = fileURLToPath(new URL("./worker.mjs", import.meta.url));
const STOP_MS = 3_000;
const QUIET = { MASTRA_TELEMETRY_DISABLED: "1", LANGCHAIN_TRACING_V2: "false", LANGSMITH_TRACING: "false" };

/**
 * `execPath` is the Node to run it on, where that is not this one. `BENCH_DEBUG` shows what the contender prints.
 */
export async function spawnWorker(name, { gc = false, execPath = process.execPath } = {}) {
  const output = process.env.BENCH_DEBUG ? "inherit" : "ignore";
  const child = fork(WORKER, [name], {
    execPath,
    execArgv: [...(gc ? ["--expose-gc"] : []), "--max-old-space-size=6144"],
    stdio: ["ignore", output, output, "ipc"],
    env: { ...process.env, NODE_ENV: "production", ...QUIET },
  });
  const calls = new Calls(name, child);
  const node = await calls.ready;
  const ended = () => new Promise((resolve) => child.once("exit", resolve));

  return {
    name,
    node,
    call: (cmd, args, timeoutMs) => calls.send({ cmd, args }, timeoutMs),
    async kill9() {
      const end = ended();
      child.kill("SIGKILL");
      await end;
    },
    async stop() {
      if (calls.dead !== undefined) return;
      const end = ended();
      child.disconnect();
      setTimeout(() => child.kill("SIGKILL"), STOP_MS).unref();
      await end;
    },
  };
}

const CALL_MS = 300_000;

/** What was asked of a child and is not answered yet. */
class Calls {
  #name;
  #child;
  #waiting = new Map();
  #lastId = 0;
  /** Resolves to the version of its Node. */
  ready;
  dead;

  constructor(name, child) {
    this.#name = name;
    this.#child = child;
    this.ready = new Promise((resolve, reject) => {
      child.on("message", (message) => (message.ready ? resolve(message.node) : this.#answered(message)));
      child.on("exit", (code, signal) => {
        const dead = new Error(`[${name}] its process ended with ${code ?? signal}`);
        this.dead = dead;
        reject(dead);
        for (const call of this.#waiting.values()) call.reject(dead);
        this.#waiting.clear();
      });
    });
  }

  async send({ cmd, args }, timeoutMs = CALL_MS) {
    if (this.dead !== undefined) throw this.dead;
    this.#lastId += 1;
    const id = this.#lastId;
    let timer;
    try {
      return await new Promise((resolve, reject) => {
        const late = () => reject(new Error(`[${this.#name}] ${cmd} timed out after ${timeoutMs} ms`));
        timer = setTimeout(late, timeoutMs);
        this.#waiting.set(id, { resolve, reject });
        this.#child.send({ id, cmd, args });
      });
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  #answered({ id, error, result }) {
    const call = this.#waiting.get(id);
    if (error) call?.reject(new Error(`[${this.#name}] ${error}`));
    else call?.resolve(result);
  }
}

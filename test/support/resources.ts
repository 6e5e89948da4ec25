import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { Child, type ChildOptions, type Line } from "./processes/child.ts";

/** Real things that a test holds, given back in the opposite order. */
export class Resources {
  readonly #releases: (() => unknown)[] = [];

  /** Remembers how something is released. */
  add(release: () => unknown): void {
    this.#releases.push(release);
  }

  /** An empty folder, removed with everything in it. */
  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "countersign-"));
    this.add(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }

  /** A process, killed if it still runs; one that is stopped too. */
  child<L extends Line>(program: URL, options: ChildOptions = {}): Child<L> {
    const child = new Child<L>(program, options);
    this.add(() => child.kill());
    return child;
  }

  async release(): Promise<void> {
    for (let release = this.#releases.pop(); release !== undefined; release = this.#releases.pop()) {
      await release();
    }
  }
}

/** Resources that are released after each test of the file that asks for them. */
export function useResources(): Resources {
  const resources = new Resources();
  afterEach(() => resources.release());
  return resources;
}

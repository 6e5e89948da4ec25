import type { Tool as ServerTool } from "@modelcontextprotocol/client";
import { type Approvers, checkAsking } from "../../engine/index.ts";
import { CountersignError, isReservedName } from "../../protocol/index.ts";
import type { Tool, Toolset } from "../../runtime/index.ts";
import { checkAllowedHeaders, describeServer, McpConnection, type McpServer } from "../servers/index.ts";
import { foldName } from "./folding.ts";
import { checkPolicy, type McpConfirmation } from "./policy.ts";
import { type ServerFacts, toTool } from "./server-tool.ts";

/** Options of {@link McpToolset}. */
export interface McpToolsetOptions {
  /** The server's name for people; shown with every call of its tools. */
  readonly name: string;
  readonly server: McpServer;
  /** Which tools need approval. Default: none. */
  readonly confirmation?: McpConfirmation;
  /** Only these of the server's tools. */
  readonly toolNames?: readonly string[];
  /** Those of `toolNames` that need approval. A name that the server does not list is an error. */
  readonly requireApproval?: readonly string[];
  /** Who may approve. Default: the requester. */
  readonly approvers?: Approvers;
  /** How long a call waits for a person. Default: forever. */
  readonly expiresInMs?: number;
  /**
   * Names of request headers that are sent with its calls; for servers with a URL. The server's own `headers` take
   * precedence. They are never stored: in a process that did not receive the request (after a restart, on another
   * server), the call is not made, and its result says so.
   */
  readonly allowedHeaders?: readonly string[];
  /** A prefix for every tool's name, if two servers have tools of the same name. */
  readonly prefix?: string;
  /** How long a call may be silent before its outcome is unknown. */
  readonly timeoutMs?: number;
  /** Called for tools that are left out, with the reason. */
  readonly onWarning?: (message: string) => void;
}

const DEFAULT_TIMEOUT_MS = 60_000;
// An unannounced change of a tool is noticed at the latest after this time.
const LISTING_MAX_AGE_MS = 60_000;
const MOST_TOOLS = 1_000;
const LARGEST_SCHEMA = 100_000;

/**
 * The tools of an MCP server, gated here. Listed when first needed and then cached, until the server announces a
 * change, the connection is lost, or a minute has passed.
 */
export class McpToolset implements Toolset {
  readonly name: string;
  readonly requestHeaders: readonly string[];
  readonly #options: McpToolsetOptions;
  readonly #connection: McpConnection;
  readonly #warned = new Set<string>();
  #confirmation: McpConfirmation;
  #listing: { readonly tools: Promise<readonly Tool[]>; readonly at: number } | undefined;
  #wasListed = false;

  constructor(options: McpToolsetOptions) {
    const { name, server, confirmation = "none", toolNames, requireApproval = [] } = options;
    checkAsking(`The toolset ${name}`, options);
    this.name = name;
    // A process that we started is sent no headers.
    this.requestHeaders = "url" in server ? checkAllowedHeaders(options.allowedHeaders ?? []) : [];
    this.#options = options;
    this.#confirmation = checkPolicy(confirmation);
    if (!requireApproval.every((tool) => toolNames?.includes(tool) ?? false)) {
      throw new CountersignError(
        "invalid-option",
        "each requireApproval entry must also appear in toolNames",
        {
          details: { option: "requireApproval" },
        },
      );
    }
    this.#connection = new McpConnection(server, () => {
      this.#listing = undefined;
    });
  }

  /** Sets the policy; refused once the tools were listed, because calls may have used the old one. */
  set confirmation(policy: McpConfirmation) {
    if (this.#wasListed) {
      throw new CountersignError(
        "invalid-option",
        `The tools of ${this.name} are already listed. Set the confirmation policy before the first listing.`,
        { details: { option: "confirmation" } },
      );
    }
    this.#confirmation = checkPolicy(policy);
  }

  get confirmation(): McpConfirmation {
    return this.#confirmation;
  }

  async tools(): Promise<readonly Tool[]> {
    this.#wasListed = true;
    const now = performance.now();
    if (this.#listing !== undefined && now - this.#listing.at < LISTING_MAX_AGE_MS)
      return this.#listing.tools;
    const listing = { tools: this.#list(), at: now };
    this.#listing = listing;
    // What failed is tried again at the next request.
    listing.tools.catch(() => {
      if (this.#listing === listing) this.#listing = undefined;
    });
    return listing.tools;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #list(): Promise<readonly Tool[]> {
    const listed = await this.#connection.listTools(this.#timeoutMs);
    const { toolNames, requireApproval = [] } = this.#options;
    const names = new Set(listed.map(({ name }) => name));
    const missing = requireApproval.find((name) => !names.has(name));
    if (missing !== undefined) {
      throw new CountersignError(
        "invalid-option",
        `${this.name} has no tool "${missing}", which requireApproval names. Check the spelling: a wrong name would leave a tool without approval.`,
        { details: { option: "requireApproval" } },
      );
    }
    for (const name of toolNames ?? [])
      if (!names.has(name)) this.#warn(`${this.name} has no tool "${name}".`);
    const wanted = toolNames === undefined ? listed : listed.filter(({ name }) => toolNames.includes(name));
    return this.#usable(wanted).map((given) => toTool(this.#facts(), given));
  }

  /** Leaves out tools that a server must not define. */
  #usable(listed: readonly ServerTool[]): readonly ServerTool[] {
    const seen = new Set<string>();
    const kept = listed.filter((given) => {
      const reason = refusalOf(given, seen);
      if (reason !== undefined) this.#warn(`${this.name}: the tool "${given.name}" is skipped: ${reason}.`);
      seen.add(foldName(given.name));
      return reason === undefined;
    });
    if (kept.length > MOST_TOOLS)
      this.#warn(`${this.name} has ${kept.length} tools; only the first ${MOST_TOOLS} are used.`);
    return kept.slice(0, MOST_TOOLS);
  }

  #facts(): ServerFacts {
    const { name, server, prefix = "", requireApproval = [], approvers, expiresInMs } = this.#options;
    return {
      asking: {
        ...(approvers === undefined ? {} : { approvers }),
        ...(expiresInMs === undefined ? {} : { expiresInMs }),
      },
      connection: this.#connection,
      server: name,
      place: describeServer(server),
      prefix,
      confirmation: this.#confirmation,
      requireApproval,
      allowedHeaders: this.requestHeaders,
      timeoutMs: this.#timeoutMs,
    };
  }

  get #timeoutMs(): number {
    return this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  // Once each: the tools are asked for before every model call.
  #warn(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    const { onWarning = (text: string) => process.emitWarning(text, "CountersignWarning") } = this.#options;
    onWarning(message);
  }
}

function refusalOf(given: ServerTool, seen: ReadonlySet<string>): string | undefined {
  if (isReservedName(given.name)) return "its name is reserved";
  if (!/^[\w.:/-]{1,128}$/.test(given.name)) return "a model cannot call a tool with this name";
  if (seen.has(foldName(given.name))) return "another tool has the same or a very similar name";
  if (JSON.stringify(given.inputSchema).length > LARGEST_SCHEMA) return "its schema is too large";
  return undefined;
}

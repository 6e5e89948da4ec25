import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";

/** What a test wants other than usual in a token. */
export interface TokenWishes {
  readonly claims?: Record<string, unknown>;
  readonly issuer?: string;
  readonly audience?: string | string[];
  /** What kind of token its header says that it is. */
  readonly typ?: string | undefined;
  /** Seconds from now. */
  readonly expiresIn?: number;
  readonly notBefore?: number;
}

interface SigningKey {
  readonly id: string;
  readonly key: CryptoKey;
  readonly jwk: JWK;
}

/** An OpenID Connect issuer on this machine: keys that rotate, and a login page at which everybody is one person. */
export class TestIssuer {
  /** Who is logged in at the issuer. */
  claims: Record<string, unknown> = {
    sub: "ana",
    email: "ana@corp.test",
    email_verified: true,
    roles: ["finance"],
  };
  /** Takes a code as often as it comes, and whoever brings it. */
  careless = false;
  /** What is unusual in what it says of itself. */
  configuration: Record<string, string> = {};
  /** What is unusual in the tokens that say who logged in. */
  idToken: TokenWishes = {};
  /** Puts this into tokens instead of what the login asked for. */
  nonce: string | undefined;
  readonly url: string;
  readonly close: () => Promise<void>;
  readonly #codes = new Map<
    string,
    { readonly challenge: string; readonly nonce: string; readonly redirect: string }
  >();
  #keys: readonly SigningKey[] = [];
  /** How often the keys were asked for. */
  keyReads = 0;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.close = close;
  }

  static async open(): Promise<TestIssuer> {
    const opened = Promise.withResolvers<TestIssuer>();
    const server = createServer((request, response) => {
      const answer = async (): Promise<void> => {
        const made = await (await opened.promise).answer(request);
        response.writeHead(made.status, Object.fromEntries(made.headers)).end(await made.text());
      };
      answer().catch(() => response.writeHead(500).end());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const issuer = new TestIssuer(`http://127.0.0.1:${port}`, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    await issuer.rotate();
    opened.resolve(issuer);
    return issuer;
  }

  /** Signs with a new key from now on, and forgets the old ones. */
  async rotate(): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const id = randomUUID();
    this.#keys = [{ id, key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid: id, alg: "ES256" } }];
  }

  /** The public key, as anybody can read it. */
  get publicKey(): JWK {
    return this.#key().jwk;
  }

  async token({ claims = {}, issuer = this.url, ...wishes }: TokenWishes = {}): Promise<string> {
    const { audience = "countersign", expiresIn = 300, notBefore } = wishes;
    const typ = "typ" in wishes ? wishes.typ : "JWT";
    const { id, key } = this.#key();
    const now = Math.floor(Date.now() / 1000);
    const signing = new SignJWT({ ...this.claims, ...claims })
      .setProtectedHeader({ alg: "ES256", kid: id, ...(typ === undefined ? {} : { typ }) })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now + expiresIn);
    if (notBefore !== undefined) signing.setNotBefore(now + notBefore);
    return signing.sign(key);
  }

  async answer(request: IncomingMessage): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return Response.json({
          issuer: this.url,
          jwks_uri: `${this.url}/keys`,
          authorization_endpoint: `${this.url}/authorize`,
          token_endpoint: `${this.url}/token`,
          ...this.configuration,
        });
      case "/keys":
        this.keyReads += 1;
        return Response.json({ keys: this.#keys.map(({ jwk }) => jwk) });
      case "/authorize":
        return this.#authorize(searchParams);
      case "/token":
        return this.#grant(new URLSearchParams(await text(request)));
      default:
        return new Response(null, { status: 404 });
    }
  }

  #authorize(query: URLSearchParams): Response {
    const code = randomUUID();
    const redirect = query.get("redirect_uri") ?? "";
    const [challenge, nonce] = [query.get("code_challenge") ?? "", query.get("nonce") ?? ""];
    this.#codes.set(code, { challenge, nonce, redirect });
    const location = new URL(redirect);
    location.searchParams.set("code", code);
    location.searchParams.set("state", query.get("state") ?? "");
    return new Response(null, { status: 302, headers: { location: location.href } });
  }

  async #grant(form: URLSearchParams): Promise<Response> {
    const left = this.#codes.get(form.get("code") ?? "");
    if (!this.careless) this.#codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight = left?.challenge === challenge && left.redirect === form.get("redirect_uri");
    if (left === undefined || !(isRight || this.careless))
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    const audience = form.get("client_id") ?? "";
    const claims = { nonce: this.nonce ?? left.nonce, ...this.idToken.claims };
    const id_token = await this.token({ audience, ...this.idToken, claims });
    return Response.json({ access_token: randomUUID(), token_type: "Bearer", id_token });
  }

  #key(): SigningKey {
    const [key] = this.#keys;
    if (key === undefined) throw new Error("The issuer has no key.");
    return key;
  }
}

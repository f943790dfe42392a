/** Access to a server's administration listener, and requests to it. */

/** The server's refusal of a request. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export interface Access {
  /** The server's address, with a slash at the end. */
  readonly server: string;
  readonly token: string;
}

/** What the attributes `server` and `token` of an element say. */
export function accessOf(element: Element): Access {
  const server = new URL(element.getAttribute("server") ?? "./", document.baseURI).href.replace(/\/?$/, "/");
  return { server, token: element.getAttribute("token") ?? "" };
}

/**
 * The address of another page of the listener, with the token behind `#`, which browsers do not
 * send.
 */
export function pageAddress(page: string, { token }: Access): string {
  return token === "" ? page : `${page}#token=${token}`;
}

/** The header that bears the token. */
export function headers({ token }: Access): Record<string, string> {
  return token === "" ? {} : { authorization: `Bearer ${token}` };
}

export interface RequestOptions {
  readonly method?: string;
  /** Is sent as JSON, but a file as it is. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request. A refusal of the server is a `Refused`. */
export async function request(access: Access, path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, headers: more } = options;
  const isFile = body instanceof Blob;
  const kind = body && !isFile ? { "content-type": "application/json" } : {};
  const answer = await fetch(`${access.server}${path}`, {
    method,
    ...(body ? { body: isFile ? body : JSON.stringify(body) } : {}),
    headers: { ...headers(access), ...kind, ...more },
  });
  if (!answer.ok) throw new Refused(answer.status, (await answer.text()).trim());
  return answer;
}

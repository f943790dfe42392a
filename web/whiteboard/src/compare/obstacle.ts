/** Explains why WebTransport does not work, and what to do about it. */

export interface Obstacle {
  readonly what: string;
  readonly todo: string;
}

/** An obstacle in the page itself; undefined if it has all that WebTransport needs. */
export function pageObstacle(): Obstacle | undefined {
  if (!isSecureContext) {
    return {
      what: "This page has no WebTransport, as it came unprotected.",
      todo: "Browsers have it on https and on localhost only: open this page at one of these.",
    };
  }
  if (typeof WebTransport === "undefined") {
    return {
      what: "This browser has no WebTransport.",
      todo: "Chrome and Edge have it since 97, Firefox since 114, Safari since 26.4.",
    };
  }
  return undefined;
}

/** An obstacle between the page and the server, when connecting takes too long. */
export async function pathObstacle(server: string): Promise<Obstacle> {
  let answer: Response;
  try {
    answer = await fetch(new URL("/transports", server.replace(/^ws/, "http")), { cache: "no-store" });
  } catch {
    return { what: "The server does not answer.", todo: "Trying again." };
  }
  const port = await offered(answer);
  if (port !== undefined) {
    return {
      what: "WebTransport does not get through.",
      todo: `The server offers it on UDP port ${port}: a firewall on the way has to let that pass. Trying again.`,
    };
  }
  return {
    what: "This server offers no WebTransport.",
    todo: "Its log says why: its UDP port was taken, its certificate is of no use, or it was switched off.",
  };
}

/** The UDP port that the server names; undefined if it offers no WebTransport. */
async function offered(answer: Response): Promise<number | undefined> {
  try {
    const { webtransport } = (await answer.json()) as { webtransport?: { port?: number } };
    return webtransport?.port;
  } catch {
    // It is another server, which answers something else.
    return undefined;
  }
}

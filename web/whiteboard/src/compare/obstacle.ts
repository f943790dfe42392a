/** Why there is no WebTransport, and what to do about it. */

export interface Obstacle {
  readonly what: string;
  readonly todo: string;
}

/** What the page itself lacks; nothing if it has all it needs. */
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

/** What stands between the page and the server, when connecting takes suspiciously long. */
export async function pathObstacle(server: string): Promise<Obstacle> {
  try {
    const answer = await fetch(new URL("/transports", server.replace(/^ws/, "http")), { cache: "no-store" });
    const { webtransport } = (await answer.json()) as { webtransport?: { port?: number } };
    if (webtransport?.port !== undefined) {
      return {
        what: "WebTransport does not get through.",
        todo: `The server offers it on UDP port ${webtransport.port}: a firewall on the way has to let that pass. Trying again.`,
      };
    }
  } catch {
    // An old server, or none: it offers nothing.
  }
  return {
    what: "This server offers no WebTransport.",
    todo: "Its log says why: its UDP port was taken, its certificate is of no use, or it was switched off.",
  };
}

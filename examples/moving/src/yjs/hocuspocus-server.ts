/** The server of Hocuspocus, with documents in memory. */

// #region imports
import { Server } from "@hocuspocus/server";
// #endregion imports

export async function startHocuspocus() {
  // #region server
  const server = new Server({
    address: "127.0.0.1",
    port: 0,
    quiet: true,
    stopOnSignals: false,
    async onAuthenticate({ token }) {
      if (token !== "secret") throw new Error("Not authorized!");
    },
  });
  await server.listen();
  // #endregion server
  return { url: `http://127.0.0.1:${server.address.port}`, close: async () => void (await server.destroy()) };
}

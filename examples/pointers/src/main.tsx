/** Joins the room that the page's address names: `?room=demo&server=http://127.0.0.1:8080`. */

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { remembered } from "./person";
import { pointers, RoomProvider } from "./room";

const { searchParams, hostname } = new URL(location.href);
const server = searchParams.get("server") ?? `http://${hostname}:8080`;
const name = searchParams.get("room") ?? "pointers";

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <RoomProvider room={pointers} url={server} name={name} presence={remembered(localStorage)}>
      <App />
    </RoomProvider>
  </StrictMode>,
);

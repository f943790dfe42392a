/** Shows the chat of the room that the page's address names. */

import "./style.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";

const { searchParams, hostname } = new URL(location.href);
const server = searchParams.get("server") ?? `http://${hostname}:8080`;
const room = searchParams.get("room") ?? "chat";

/** A tab is a person, also when its page is loaded anew. The name is that of the browser. */
const id = sessionStorage.getItem("groupwire-chat-id") ?? crypto.randomUUID();
sessionStorage.setItem("groupwire-chat-id", id);
const name = localStorage.getItem("groupwire-name") || `Guest ${Math.ceil(Math.random() * 99)}`;

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <App
      server={server}
      room={room}
      person={{ id, name }}
      onRename={(name) => localStorage.setItem("groupwire-name", name)}
    />
  </StrictMode>,
);

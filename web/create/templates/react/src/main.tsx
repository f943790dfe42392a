import { RoomProvider } from "groupwire-react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { me, name, url } from "./place";
import { board } from "./room";
import "./style.css";

// The hooks of groupwire-react have the types of this room.
declare module "groupwire-react" {
  interface Register {
    room: typeof board;
  }
}

createRoot(document.getElementById("app")!).render(
  <StrictMode>
    <RoomProvider room={board} url={url} name={name} presence={me}>
      <App />
    </RoomProvider>
  </StrictMode>,
);
addEventListener("hashchange", () => location.reload());

/**
 * Joins the room that the page's address names (`?room=drawing&server=http://127.0.0.1:8080`), and
 * shows it.
 */

import { connect } from "groupwire";
import { createRoot } from "react-dom/client";
import { Board } from "./board";
import { drawing, type Person } from "./room";
import "./style.css";

const { searchParams, hostname } = new URL(location.href);
const server = searchParams.get("server") ?? `http://${hostname}:8080`;
const name = searchParams.get("room") ?? "drawing";
const me: Person = {
  name: localStorage.getItem("groupwire-name")?.slice(0, 40) || `Guest ${100 + Math.floor(Math.random() * 900)}`,
};

const room = drawing.join(connect, server, name, { presence: me });
createRoot(document.getElementById("root")!).render(<Board room={room} me={me} />);

/**
 * Joins the room that the page's address names (`?room=drawing&server=http://127.0.0.1:8080`), and
 * shows it.
 */

import { connect } from "groupwire";
import { createRoot } from "react-dom/client";
import { Board } from "./board";
import { drawing } from "./room";
import "./style.css";

const COLORS = ["#c2410c", "#15803d", "#1d4ed8", "#7e22ce", "#be185d", "#0f766e"];

const { searchParams, hostname } = new URL(location.href);
const server = searchParams.get("server") ?? `http://${hostname}:8080`;
const roomName = searchParams.get("room") ?? "drawing";
const number = Math.floor(Math.random() * 900) + 100;
const me = {
  // A window is a user of its own, so that two windows of one browser see each other.
  id: crypto.randomUUID(),
  name: localStorage.getItem("groupwire-name")?.slice(0, 40) || `Guest ${number}`,
  color: COLORS[number % COLORS.length]!,
};

const room = drawing.join(connect, server, roomName, { presence: { name: me.name } });
createRoot(document.getElementById("root")!).render(<Board room={room} me={me} />);

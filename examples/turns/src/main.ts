/** Joins the room that the page's address names, and shows the table in it. */

import "./style.css";
import { connect } from "groupwire";
import { Table } from "./table";
import { View } from "./view";

const { searchParams, hostname } = new URL(location.href);
const server = searchParams.get("server") ?? `http://${hostname}:8080`;
const field = document.getElementById("name") as HTMLInputElement;
field.value = localStorage.getItem("groupwire-name") ?? `Guest ${Math.ceil(Math.random() * 99)}`;

const room = connect(server, searchParams.get("room") ?? "table", { presence: { name: field.value } });
const view = new View(room, new Table(room, sessionStorage));
room.on("error", ({ message, fatal }) => {
  if (fatal) view.fail(message);
  else console.warn(message);
});
field.addEventListener("change", () => {
  localStorage.setItem("groupwire-name", field.value);
  room.setPresence({ name: field.value });
});

// Who is here (guide, "Presence")
import { connect } from "groupwire";
import { defineRoom } from "groupwire/schema";
import { z } from "zod";

root.innerHTML = `
  <label>Your name <input id="name" maxlength="30" /></label>
  <ul id="people" aria-label="Who is here"></ul>
  <p id="status" role="status"></p>`;

const board = defineRoom({
  presence: z.object({ name: z.string().max(30), color: z.string() }),
});

const me = { name: "Guest", color: "#1d4ed8" };
const demo = board.join(connect, "http://127.0.0.1:8080", "demo", { presence: me });

const element = (id) => root.getElementById(id);

function showPeople() {
  const others = [...demo.participants.values()].filter((other) => !other.away);
  element("people").replaceChildren(
    ...others.map(({ presence }) => {
      const item = document.createElement("li");
      item.textContent = presence?.name ?? "Somebody";
      item.style.borderLeft = `4px solid ${presence?.color ?? ""}`;
      return item;
    }),
  );
}

demo.room.on("participants", showPeople);
demo.room.on("status", (status) => (element("status").textContent = status));

element("name").addEventListener("input", ({ target }) => {
  me.name = target.value;
  demo.setPresence(me);
});

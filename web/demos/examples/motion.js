// Pointers that move smoothly (guide, "Motion")
import { awareness, connect } from "groupwire";
import { follow } from "groupwire/motion";
import { defineRoom } from "groupwire/schema";
import { z } from "zod";

root.innerHTML = `<div id="plane" style="height: 12rem; position: relative">Move the pointer here</div>`;
const plane = root.querySelector("#plane");

const board = defineRoom({
  channels: {
    cursor: { ...awareness({ maxRate: 25, deadline: 250 }), schema: z.tuple([z.number(), z.number()]).nullable() },
  },
});

const demo = board.join(connect, "http://127.0.0.1:8080", "demo");

function showCursors(demo) {
  const { cursor } = demo.channels;
  plane.addEventListener("pointermove", ({ offsetX, offsetY }) => cursor.send([offsetX, offsetY]));
  plane.addEventListener("pointerleave", () => cursor.send(null));

  const elements = new Map();
  follow(demo.room, cursor.channel, {
    draw: (views) => {
      for (const element of elements.values()) element.hidden = true;
      for (const { sender, place, isGone } of views) {
        const element = elements.get(sender) ?? newCursor();
        elements.set(sender, element);
        element.textContent = "the other one";
        element.hidden = isGone;
        element.style.translate = `${place[0]}px ${place[1]}px`;
      }
    },
  });
}

function newCursor() {
  const element = document.createElement("div");
  element.className = "cursor";
  element.ariaHidden = "true";
  element.style.cssText =
    "position: absolute; top: 0; left: 0; pointer-events: none; border-left: 3px solid; padding-left: 4px";
  return plane.appendChild(element);
}

showCursors(demo);

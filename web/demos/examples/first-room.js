// Your first room: a chat (guide, "Your first room")
import { connect, transaction } from "groupwire";

root.innerHTML = `
  <ul id="messages"></ul>
  <form>
    <input id="text" aria-label="Message" required />
    <button>Send</button>
  </form>`;

const room = connect("http://127.0.0.1:8080", "demo");
const chat = room.channel("chat", transaction());

chat.on("message", (message) => {
  const item = document.createElement("li");
  item.textContent = message.json().text;
  root.querySelector("#messages").append(item);
});

const text = root.querySelector("#text");
root.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  chat.send({ text: text.value });
  text.value = "";
});

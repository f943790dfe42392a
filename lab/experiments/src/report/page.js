// Without it everything is shown, and marks have titles. With it one panel of a choice is shown at a time, legends hide
// and show series, and what is near the pointer is told.
"use strict";

const tip = document.getElementById("tip");

for (const choice of document.querySelectorAll(".choice")) {
  const chooser = choice.querySelector(":scope > .chooser");
  if (!chooser) continue;
  const panels = [...choice.querySelectorAll(":scope > .panel")];
  const select = chooser.querySelector("select");
  const show = () => panels.forEach((panel, at) => (panel.hidden = at !== Number(select.value)));
  chooser.hidden = false;
  select.addEventListener("change", show);
  show();
}

const named = (charts, name) =>
  [...charts.querySelectorAll("figure .series")].filter((series) => series.dataset.name === name);

for (const charts of document.querySelectorAll(".charts")) {
  for (const button of charts.querySelectorAll(".legend button")) {
    const name = button.dataset.name;
    const dim = (on) => {
      charts.querySelectorAll("figure > svg").forEach((svg) => svg.classList.toggle("dim", on));
      named(charts, name).forEach((series) => series.classList.toggle("lit", on));
    };
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      named(charts, name).forEach((series) => series.classList.toggle("off", !shown));
      dim(false);
    });
    button.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse" && button.getAttribute("aria-pressed") === "true") dim(true);
    });
    button.addEventListener("pointerleave", () => dim(false));
  }
}

for (const svg of document.querySelectorAll("figure > svg")) {
  // Titles would pop up beside what is told here.
  const title = svg.querySelector(":scope > title");
  svg.setAttribute("aria-label", title.textContent);
  svg.removeAttribute("aria-labelledby");
  title.remove();
  const marks = [...svg.querySelectorAll(".mark")].map((mark) => {
    mark.querySelector("title").remove();
    const [x, y] = mark.dataset.p.split(" ").map(Number);
    return { series: mark.closest(".series"), x, y, at: mark.dataset.x, value: mark.dataset.y };
  });
  const bars = svg.querySelector("rect.mark") !== null || svg.querySelector("text.row") !== null;

  const leave = () => {
    tip.hidden = true;
    svg.classList.remove("dim");
    svg.querySelectorAll(".lit").forEach((one) => one.classList.remove("lit"));
  };
  const move = (event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const far = (mark) => (bars ? Math.abs(mark.y - y) : Math.hypot(mark.x - x, mark.y - y));
    const shown = marks.filter((mark) => !mark.series.classList.contains("off"));
    leave();
    if (shown.length === 0) return;
    const near = shown.reduce((best, mark) => (far(mark) < far(best) ? mark : best));
    if (far(near) > (bars ? 20 : 90)) return;
    const beside = shown.filter((mark) => mark.at === near.at);
    if (!bars) {
      beside.sort((one, other) => one.y - other.y);
      svg.classList.add("dim");
      svg.querySelectorAll(".series").forEach((one) => {
        one.classList.toggle("lit", one.dataset.name === near.series.dataset.name);
      });
    }
    const heading = document.createElement("b");
    heading.textContent = near.at;
    tip.replaceChildren(heading);
    for (const mark of beside) {
      const line = document.createElement("div");
      line.classList.toggle("lit", mark === near);
      for (const words of [mark.series.dataset.name, mark.value]) {
        line.appendChild(document.createElement("span")).textContent = words;
      }
      tip.append(line);
    }
    tip.hidden = false;
    const right = event.clientX + 16 + tip.offsetWidth < innerWidth;
    tip.style.left = `${Math.max(4, right ? event.clientX + 16 : event.clientX - 16 - tip.offsetWidth)}px`;
    tip.style.top = `${Math.max(4, Math.min(event.clientY - 20, innerHeight - tip.offsetHeight - 8))}px`;
  };
  svg.addEventListener("pointermove", move);
  svg.addEventListener("pointerdown", move);
  svg.addEventListener("pointerleave", leave);
}
addEventListener("scroll", () => (tip.hidden = true), { passive: true });

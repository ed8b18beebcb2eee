// Workbench: ports are dragged onto ports of the other side, or paired by keys. Each step is the form of the page, which the
// server answers; the script of lists replaces the part of the page.
const form = () => document.querySelector("form.workbench");
const radios = (side) => [...form().querySelectorAll(`input[name="_${side}"]:enabled`)];
const other = (side) => (side === "left" ? "right" : "left");
let next; // the side and the place of the port that gets the focus when the page is there

function pair(left, right) {
  next = radios("left").findIndex((radio) => radio.value === left);
  for (const [side, key] of [["left", left], ["right", right]]) {
    for (const radio of radios(side)) radio.checked = radio.value === key;
  }
  form().requestSubmit(form().querySelector(".pairings button"));
}

// -- what is chosen or typed takes effect at once

document.addEventListener("change", ({ target }) => {
  if (!form()?.contains(target) || target.type === "radio" || target.name === "pk") return;
  if (/^_add_|^_in_/.test(target.name) && target.value) form().requestSubmit(form().querySelector("[data-show]"));
  else if (target.closest(".cable-fields")) form().requestSubmit(form().querySelector('.form-actions [formmethod="get"]'));
});

// -- keys: up and down choose a port, left and right the side, Enter pairs the chosen ports of both sides

document.addEventListener("keydown", (event) => {
  const radio = event.target.closest?.(".workbench input[type=radio]");
  if (!radio || event.ctrlKey || event.metaKey || event.altKey) return;
  const side = radio.name.slice(1);
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    event.preventDefault();
    const wanted = event.key === "ArrowLeft" ? "left" : "right";
    if (wanted === side) return;
    radio.checked = true;
    const all = radios(wanted), to = all.find(({ checked }) => checked) ?? all[0];
    if (to) [to.checked] = [true, to.focus()];
  } else if (event.key === "Enter") {
    event.preventDefault();
    radio.checked = true;
    const [left, right] = ["left", "right"].map((name) => radios(name).find(({ checked }) => checked));
    if (left && right) pair(left.value, right.value);
  }
});

// The next step is the first side without a device, then the pairing in order. After a pairing of all it is *Connect*.
function focusNextStep() {
  if (!form() || form().querySelector('[role="alert"]')) return;
  const connect = form().querySelector(".form-actions button.primary:enabled");
  if (connect && document.activeElement.name === "_pairing") return connect.focus();
  if (document.activeElement !== document.body) return;
  const empty = ["left", "right"].find((side) => !form().elements[side]);
  const adding = form().querySelector(`.picker:has([name="_add_${empty}"]) [role=combobox]`);
  (adding ?? form().querySelector('[name="_pairing"][value="order"]'))?.focus();
}

addEventListener("load", focusNextStep); // pickers are there by then
new MutationObserver(() => {
  if (!form()) return;
  if (next === undefined) return focusNextStep();
  const all = radios("left"), to = all[Math.min(next, all.length - 1)];
  next = undefined;
  to?.focus();
}).observe(document.getElementById("content"), { childList: true });

// -- dragging

let drag;
const portAt = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest(".port[data-port]");
const mark = (port) => {
  for (const marked of document.querySelectorAll(".port.drop")) marked.classList.remove("drop");
  port?.classList.add("drop");
};
const target = (event) => {
  const port = portAt(event);
  return port?.dataset.side === other(drag.port.dataset.side) ? port : null;
};

document.addEventListener("pointerdown", (event) => {
  const port = event.target.closest(".workbench .port[data-port]");
  if (port && !event.button && event.pointerType !== "touch") drag = { port, x: event.clientX, y: event.clientY };
});

document.addEventListener("pointermove", (event) => {
  if (!drag) return;
  drag.moved ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 5;
  if (!drag.moved) return;
  event.preventDefault();
  drag.port.classList.add("dragging");
  mark(target(event));
});

document.addEventListener("pointerup", (event) => {
  if (!drag) return;
  const { port, moved } = drag, to = moved ? target(event) : null;
  stop();
  if (!to) return;
  const [left, right] = port.dataset.side === "left" ? [port, to] : [to, port];
  setTimeout(() => pair(left.dataset.port, right.dataset.port));
});

function stop() {
  mark(null);
  drag?.port.classList.remove("dragging");
  drag = undefined;
}

document.addEventListener("keydown", (event) => { if (event.key === "Escape") stop(); });
document.addEventListener("selectstart", (event) => { if (drag) event.preventDefault(); });

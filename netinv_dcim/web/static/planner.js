// Planner of racks: devices are dragged to units, or moved by the arrow keys. Each step is a link or a button of the page, so that the
// server draws the plan, and says what it refuses.
const SVG = "http://www.w3.org/2000/svg";

const plan = () => document.querySelector("[data-plan]");
const pixels = (name) => Number(document.querySelector(".rack-definitions").dataset[name]); // of a unit, of the margin above the topmost one, and of the edges of a face
const faces = () => [...document.querySelectorAll("g[data-rack]")];
const drawn = (device) => document.querySelector(`#results [data-device="${device}"]`);
const height = (face) => Math.round((face.ownerSVGElement.viewBox.baseVal.height - 2 * pixels("margin")) / pixels("step"));
const descends = (face) => face.querySelector("use").getAttribute("href").includes("-down");
const row = (face, unit, units) => (descends(face) ? unit - 1 : height(face) - unit - units + 1);
const unitAt = (face, place, units) => (descends(face) ? place + 1 : height(face) - place - units + 1);

let focused, scrolled = 0; // the device that has the focus, and how far the tray is scrolled, also after a step
let last, following; // the device that was moved last, and the next one of where it was
let choosing = false; // the first unit that the chosen device fits into gets the focus when the page is there

// Shows the page with one more move; the script of lists replaces the part of the page.
function move(device, face, unit) {
  if (device !== last) {
    const all = [...(drawn(device)?.closest("g[data-rack]").querySelectorAll("[data-device]") ?? [])], place = all.indexOf(drawn(device));
    [last, following] = [device, (all[place + 1] ?? all[place - 1])?.dataset.device];
  }
  const url = new URL(plan().dataset.plan, location.origin), kept = url.searchParams.getAll("_move");
  url.searchParams.delete("_move");
  for (const text of kept) if (!text.startsWith(`${device}:`)) url.searchParams.append("_move", text);
  url.searchParams.append("_move", `${device}:${face.dataset.rack}:${unit}:${face.dataset.face}`);
  url.searchParams.set("_plan", "1");
  focused = device;
  document.dispatchEvent(new CustomEvent("list:show", { detail: location.pathname + url.search }));
}

document.addEventListener("scroll", (event) => {
  if (event.target.matches?.(".tray")) scrolled = event.target.scrollTop;
}, { capture: true });

// The planner begins at the first device.
let begun = false;
function begin() {
  if (plan() && !begun && document.activeElement === document.body) {
    document.querySelector(".tray [data-device], #results [data-device]")?.focus({ preventScroll: true });
  }
  begun = Boolean(plan());
}
addEventListener("load", begin);

new MutationObserver(() => {
  if (!focused && !choosing) begin();
  document.querySelector(".tray")?.scrollTo(0, scrolled);
  if (choosing) targets()[0]?.focus();
  choosing = false;
  if (!focused) return;
  const link = drawn(focused);
  if (link && document.activeElement !== link) link.focus({ preventScroll: true });
  focused = undefined;
}).observe(document.getElementById("content"), { childList: true });

// -- arrow keys: a unit up or down, the face to the left or right

document.addEventListener("keydown", (event) => {
  const link = event.target.closest?.("#results [data-unit]"), steps = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 };
  if (!plan() || !link || !(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const face = link.closest("g[data-rack]"), units = Number(link.dataset.units), unit = Number(link.dataset.unit);
  if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    const place = row(face, unit, units) + steps[event.key];
    if (place >= 0 && place + units <= height(face)) move(link.dataset.device, face, unitAt(face, place, units));
    return;
  }
  const all = faces(), next = all[all.indexOf(face) + steps[event.key]];
  if (next) move(link.dataset.device, next, Math.max(1, Math.min(unit, height(next) - units + 1)));
});

// -- j: from a device that was moved to the next one of where it was

document.addEventListener("keydown", (event) => {
  if (!plan() || event.key !== "j" || event.ctrlKey || event.metaKey || event.altKey || document.body.hasAttribute("data-no-shortcuts")) return;
  if (!event.target.closest?.("input, select, textarea, dialog")) drawn(following)?.focus();
});

// -- arrow keys: up and down in the tray to the next device, to the right to the units that one fits into, and among these

const targets = (face = document) => [...face.querySelectorAll("#results button[name=_move]")].sort((a, b) => top(a) - top(b));
const top = (button) => button.getBoundingClientRect().top;
const inTray = () => [...document.querySelectorAll(".tray [data-device]")];

function stepInTray(key, device) {
  const all = inTray();
  if (key === "ArrowUp" || key === "ArrowDown") all[all.indexOf(device) + (key === "ArrowUp" ? -1 : 1)]?.focus();
  else if (key === "ArrowRight" && device.hasAttribute("aria-current")) targets(faces().find((face) => targets(face).length))[0]?.focus();
  else if (key === "ArrowRight") [choosing] = [true, device.click()];
}

function stepAmongTargets(key, target) {
  const face = target.closest("g[data-rack]"), free = targets(face), all = faces().filter((other) => targets(other).length);
  if (key === "ArrowUp" || key === "ArrowDown") return free[free.indexOf(target) + (key === "ArrowUp" ? -1 : 1)]?.focus();
  const next = all[all.indexOf(face) + (key === "ArrowLeft" ? -1 : 1)];
  if (next) return targets(next).reduce((best, one) => (Math.abs(top(one) - top(target)) < Math.abs(top(best) - top(target)) ? one : best)).focus();
  if (key === "ArrowLeft") inTray().find((device) => device.hasAttribute("aria-current"))?.focus();
}

document.addEventListener("keydown", (event) => {
  if (!plan() || !/^Arrow(Up|Down|Left|Right)$/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
  const device = event.target.closest?.(".tray [data-device]"), target = event.target.closest?.("#results button[name=_move]");
  if (!device && !target) return;
  event.preventDefault();
  if (device) stepInTray(event.key, device);
  else stepAmongTargets(event.key, target);
});

// The device that a unit was chosen for has the focus there.
document.addEventListener("submit", ({ submitter }) => {
  if (submitter?.name === "_move") focused = submitter.value.split(":")[0];
});

// -- dragging

let drag;
const shown = (button) => button.closest("g") ?? button; // what is seen of a device: its button in a drawing has no text

function placeOf(event) {
  const face = document.elementsFromPoint(event.clientX, event.clientY).map((item) => item.closest?.("g[data-rack]")).find(Boolean);
  if (!face) return null;
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(face.getScreenCTM().inverse());
  const place = Math.floor((point.y - pixels("margin")) / pixels("step")) - drag.grabbed;
  return { face, place: Math.max(0, Math.min(place, height(face) - drag.units)) };
}

// Ends dragging, and returns what was dragged.
function release() {
  const ended = drag;
  ended?.mark?.remove();
  if (ended) shown(ended.link).classList.remove("dragging");
  drag = undefined;
  return ended;
}

function refuse(event) {
  event.preventDefault();
  event.stopPropagation();
}

// A finger drags the chosen device alone, and scrolls from all else.
document.addEventListener("pointerdown", (event) => {
  const link = event.target.closest("[data-device]");
  if (!plan() || !link || event.button || !event.isPrimary) return;
  if (event.pointerType === "touch" && !link.hasAttribute("aria-current")) return;
  const box = link.closest("svg") && link.getBoundingClientRect(), units = Number(link.dataset.units || 1);
  const grabbed = box ? Math.floor(((event.clientY - box.top) / box.height) * units) : 0;
  drag = { link, units, grabbed, x: event.clientX, y: event.clientY, moved: false };
});

document.addEventListener("pointermove", (event) => {
  if (!drag) return;
  drag.moved ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 5;
  if (!drag.moved) return;
  shown(drag.link).classList.add("dragging");
  const target = placeOf(event);
  drag.mark?.remove();
  if (!target) return;
  const mark = document.createElementNS(SVG, "rect");
  const width = target.face.querySelector("use") ? target.face.getBBox().width - 2 * pixels("edge") : 0;
  for (const [name, value] of Object.entries({ class: "drop", x: 0, y: pixels("margin") + target.place * pixels("step"), width, height: drag.units * pixels("step") })) mark.setAttribute(name, value);
  target.face.append(mark);
  drag.mark = mark;
});

document.addEventListener("pointerup", (event) => {
  if (!drag) return;
  const target = drag.moved ? placeOf(event) : null, { link, units, moved } = release();
  if (!moved) return;
  document.addEventListener("click", refuse, { capture: true }); // that of the mouse button; a finger that was dragged has none
  setTimeout(() => {
    document.removeEventListener("click", refuse, { capture: true });
    if (target) move(link.dataset.device, target.face, unitAt(target.face, target.place, units));
  });
});

document.addEventListener("pointercancel", release);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") release(); });

// Waiting: a form, or a link with "data-slow", whose page takes longer than a second to come says that it is on its way.
const AFTER = 1000; // milliseconds
let timer;

function begin() {
  end();
  timer = setTimeout(() => {
    const note = Object.assign(document.createElement("p"), { className: "waiting", role: "status" });
    note.append(document.createElement("progress"), "On its way …");
    note.firstChild.setAttribute("aria-hidden", "true");
    document.body.append(note);
  }, AFTER);
}

function end() {
  clearTimeout(timer);
  document.querySelector(".waiting")?.remove();
}

// Other scripts that send a form themselves have said so by then.
addEventListener("submit", (event) => setTimeout(() => event.defaultPrevented || event.target.target || begin()));
addEventListener("click", (event) => {
  const opensHere = !(event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented);
  if (opensHere && event.target.closest?.("a[data-slow]")) begin();
});
addEventListener("keydown", ({ key }) => { if (key === "Escape") end(); }); // it stops the browser, too
addEventListener("pageshow", end); // the page that the browser goes back to

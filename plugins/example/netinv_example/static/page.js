// Loaded by every page. Marks the entries of windows that are active.
for (const entry of document.querySelectorAll(".example-windows li")) {
  if (entry.lastElementChild.textContent === "now") entry.dataset.active = "";
}

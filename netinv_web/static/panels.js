// Lazy panels of an object's page: loaded in one request, each put in its place.
import { showTimes } from "./times.js";
import { addCopyButtons } from "./copy.js";

export async function loadPanels(link) {
  const response = await fetch(link.dataset.load, { headers: { Accept: "text/html" } });
  if (!response.ok || response.redirected) return; // the link to the whole page stays
  const loaded = document.createElement("template");
  loaded.innerHTML = await response.text();
  showTimes(loaded.content);
  addCopyButtons(loaded.content);
  for (const panel of [...loaded.content.children]) document.getElementById(panel.id)?.replaceWith(panel);
  link.remove();
}

for (const link of document.querySelectorAll("[data-load]")) loadPanels(link).catch(() => {});

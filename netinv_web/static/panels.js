// Lazy panels of an object's page: loaded in one request, each put in its place.
import { enhance } from "./enhance.js";

async function loadPanels(link) {
  const response = await fetch(link.dataset.load, { headers: { Accept: "text/html" } });
  if (!response.ok || response.redirected) return; // the link to the whole page stays
  const loaded = document.createElement("template");
  loaded.innerHTML = await response.text();
  for (const panel of [...loaded.content.children]) {
    document.getElementById(panel.id)?.replaceWith(panel);
    enhance(panel);
  }
  for (const empty of document.querySelectorAll("[data-lazy]")) empty.remove();
  link.remove();
}

export function loadLazyPanels(root) {
  for (const link of root.querySelectorAll("[data-load]")) loadPanels(link).catch(() => {});
}

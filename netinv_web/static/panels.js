// Lazy panels of an object's page: loaded in one request, each put in its place. Numbers of tabs that take long to count.
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

async function countTab(place) {
  const response = await fetch(place.dataset.number, { headers: { Accept: "application/json" } });
  if (response.ok && !response.redirected) place.textContent = (await response.json()).count.toLocaleString("en");
}

export function loadLazyPanels(root) {
  for (const link of root.querySelectorAll("[data-load]")) loadPanels(link).catch(() => {});
  for (const place of root.querySelectorAll(".tabs [data-number]")) countTab(place).catch(() => {});
}

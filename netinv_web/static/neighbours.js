// Previous and next of the list that one came from. Lists keep the paths of their rows for this tab of the browser.
const KEY = "netinv list";

document.addEventListener("click", (event) => {
  const link = event.target.closest("table.list tbody th a");
  if (!link) return;
  const paths = [...link.closest("table").querySelectorAll("tbody th a")].map((item) => item.getAttribute("href"));
  sessionStorage.setItem(KEY, JSON.stringify({ paths, list: location.pathname + location.search }));
});

const title = document.querySelector("header.title[data-object]");
const { paths = [], list } = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
const place = paths.indexOf(location.pathname);
if (title && place >= 0 && paths.length > 1) {
  const nav = document.createElement("nav");
  nav.className = "neighbours";
  nav.setAttribute("aria-label", "List");
  const add = (path, text, label, key) => {
    const link = document.createElement(path ? "a" : "span");
    if (path) link.href = path;
    link.textContent = text;
    link.setAttribute("aria-label", label);
    if (key) link.setAttribute("aria-keyshortcuts", key);
    nav.append(link);
    return link;
  };
  add(paths[place - 1], "‹", "Previous", "[");
  add(list, `${place + 1} of ${paths.length}`, `Back to the list, ${place + 1} of ${paths.length}`);
  add(paths[place + 1], "›", "Next", "]");
  title.append(nav);
}

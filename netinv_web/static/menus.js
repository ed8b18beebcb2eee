// Menus: one that is open closes when a click or the focus goes elsewhere, and by Escape, which leads back to its title.
const opened = () => [...document.querySelectorAll("details.dropdown[open]")];

function leave({ target }) {
  if (target.closest("dialog")) return; // it is above the menu, and gives the focus back
  for (const menu of opened()) if (!menu.contains(target)) menu.open = false;
}

document.addEventListener("click", leave);
document.addEventListener("focusin", leave);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.target.closest("dialog")) return;
  for (const menu of opened()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// What scripts add to a part of a page, all of it in one place: to the whole page once, and to each part that is fetched.
import { showTimes } from "./times.js";
import { addCopyButtons } from "./copy.js";
import { addPickers } from "./picker.js";
import { addColorInputs } from "./forms.js";
import { addEditing } from "./inline.js";
import { addGrids } from "./grid.js";
import { loadLazyPanels } from "./panels.js";
import { pollParts } from "./poll.js";

export function enhance(root = document) {
  for (const add of [showTimes, addCopyButtons, addPickers, addColorInputs, addEditing, addGrids, loadLazyPanels, pollParts]) add(root);
}

// Scripts of the interface. Every page works without them.
import { enhance } from "./enhance.js";
import "./neighbours.js";
import "./palette.js";
import "./keys.js";
import "./fold.js";
import "./menus.js";
import "./lists.js";
import "./api.js";
import "./waiting.js";

enhance();

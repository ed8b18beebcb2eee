// Scripts of the interface. Every page works without them.
import "./times.js";
import "./copy.js";
import "./panels.js";
import "./neighbours.js";
import "./poll.js";
import "./palette.js";
import "./keys.js";
import "./lists.js";
import "./picker.js";
import "./forms.js";
import "./inline.js";
import "./api.js";

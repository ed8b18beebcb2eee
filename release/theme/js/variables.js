// The variables that the scripts of MkDocs expect, from attributes of this script's element.
var base_url = document.currentScript.dataset.base;
var shortcuts = JSON.parse(document.currentScript.dataset.shortcuts);

// Runs before the first paint: the stored theme is set before anything is drawn, and the page knows that scripts run.
(function () {
  "use strict";
  var KEY = "goldspan-theme";
  var THEMES = ["auto", "light", "dark"];
  var root = document.documentElement;
  root.classList.add("js");

  function stored() {
    try {
      var value = localStorage.getItem(KEY);
      return THEMES.indexOf(value) > 0 ? value : "auto";
    } catch (error) {
      return "auto"; // storage is switched off; the system's choice stands
    }
  }

  function apply(theme) {
    if (theme === "auto") {
      root.removeAttribute("data-theme");
    } else {
      root.setAttribute("data-theme", theme);
    }
  }

  apply(stored());

  document.addEventListener("DOMContentLoaded", function () {
    var button = document.getElementById("theme");
    var word = button.querySelector("span");
    word.textContent = stored();
    button.addEventListener("click", function () {
      var next = THEMES[(THEMES.indexOf(word.textContent) + 1) % THEMES.length];
      try {
        localStorage.setItem(KEY, next);
      } catch (error) {
        // not kept for the next page, but set on this one
      }
      word.textContent = next;
      apply(next);
    });
  });
})();

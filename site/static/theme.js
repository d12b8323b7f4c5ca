// Runs before the first paint: sets the stored theme, and marks the page as one with scripts.
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
      return "auto"; // storage is disabled: use the system's theme
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
        // storage is disabled: the theme is set on this page only
      }
      word.textContent = next;
      apply(next);
    });
  });
})();

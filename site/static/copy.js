// Copying: `goldspan.copy(text, done)` for scripts, and a button on every text meant to be copied.
(function () {
  "use strict";
  window.goldspan = window.goldspan || {};

  // Calls `done` with whether the browser allowed it.
  window.goldspan.copy = function (text, done) {
    if (navigator.clipboard) {
      navigator.clipboard.writeText(text).then(function () { done(true); }, function () { done(old(text)); });
    } else {
      done(old(text));
    }
  };

  function old(text) {
    var area = document.createElement("textarea");
    area.value = text;
    area.className = "off";
    document.body.appendChild(area);
    area.select();
    var worked = document.execCommand("copy");
    area.remove();
    return worked;
  }

  document.querySelectorAll("figure.copied").forEach(function (figure) {
    var pre = figure.querySelector("pre");
    var bar = document.createElement("p");
    var button = document.createElement("button");
    var said = document.createElement("span");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy " + pre.getAttribute("aria-label"));
    said.setAttribute("role", "status");
    button.addEventListener("click", function () {
      window.goldspan.copy(pre.textContent, function (worked) {
        said.textContent = worked ? "Copied." : "The browser does not let pages copy here.";
      });
    });
    bar.append(button, said);
    figure.appendChild(bar);
  });
})();

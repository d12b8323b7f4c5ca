// The gold of an item as text, as far as it is published; else where it can be seen.
(function () {
  "use strict";
  const {element} = goldspan.strips;

  // A line: its number, whether it is gold, who of the systems shown returned it, and its words by kind.
  function line(item, file, shown, [number, isGold, words]) {
    const by = shown.map((run, place) => {
      const at = item.run.indexOf(run), numbers = at < 0 ? [] : item.answer[at];
      for (let each = 0; each < numbers.length; each += 3) {
        if (numbers[each] === file && numbers[each + 1] < number && number <= numbers[each + 2]) {
          return String(place + 1);
        }
      }
      return "";
    }).join("");
    const code = element("code", {}, ...words.map(([kind, text]) => kind ? element("span", {class: "word-" + kind}, text) : text));
    return element("tr", isGold ? {class: "gold-line"} : {},
      element("td", {class: "no"}, String(number)), element("td", {class: "who"}, (isGold ? "G" : "") + by), element("td", {}, code));
  }

  function text(about, item, found, shown) {
    const isLines = about.kind === "lines";
    const figures = JSON.parse(found.files).map(file => {
      const names = ["Line", "By", "Text"].map(name => element("th", {scope: "col", class: name === "Text" ? "word" : ""}, name));
      const body = element("tbody");
      file.lines.forEach((one, place) => {
        if (place && one[0] > file.lines[place - 1][0] + 1) {
          body.append(element("tr", {}, element("td", {class: "no"}, "⋯"), element("td"), element("td")));
        }
        body.append(line(item, isLines ? item.files.indexOf(file.path) : -1, shown, one));
      });
      return element("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": "Gold of " + file.path},
        element("table", {class: "text"}, element("caption", {}, element("span", {}, file.path)), element("thead", {}, element("tr", {}, ...names)), body));
    });
    const who = isLines ? "; " + shown.map((run, place) => (place + 1) + " returned by " + about.runs[run].title).join(", ") : "";
    return [element("h2", {}, "The gold as text"), ...figures, element("p", {class: "note"}, "G gold" + who + ". Text of " + item.repo + ", licence " + found.licence + ".")];
  }

  function quoted(name) {
    return "'" + name.replace(/'/g, "'\\''") + "'";
  }

  function without(about, item) {
    const made = element("p", {class: "note"}, "Text is not published here: " + about.without + " To see it: "), paths = item.files.filter((path, file) => (item.goldByFile || [])[file] && item.goldByFile[file].length);
    if (item.commit && paths.length) {
      const command = element("code", {}, "git show " + quoted(item.commit + ":" + paths[0]));
      made.append("in a clone of " + goldspan.visible(item.repo) + ", ", command, paths.length > 1 ? ", and so of the other files." : ".");
    } else {
      made.append(paths.length ? "the lines above, in the files that the benchmark gives of " : "candidate " + item.gold.join(", ") + " of this item's row in the benchmark's own files, of ", goldspan.visible(item.repo) + "; ");
      made.append(element("a", {href: "../data.html#sources"}, "where they are from"), ".");
    }
    return [made];
  }

  goldspan.give("item-text", {text, without});
})();

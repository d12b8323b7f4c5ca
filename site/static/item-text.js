// The gold of an item as text, as far as it is published; else where it can be seen.
(function () {
  "use strict";
  const {element} = goldspan.strips;

  // A line: its number, whether it is gold, who of the systems shown returned it, and its words by kind.
  function line(item, file, shown, [number, isGold, words]) {
    const made = element("tr", isGold ? {class: "gold-line"} : {}), code = element("code"), cell = element("td");
    const by = shown.map((run, place) => {
      const at = item.run.indexOf(run), numbers = at < 0 ? [] : item.answer[at];
      for (let each = 0; each < numbers.length; each += 3) {
        if (numbers[each] === file && numbers[each + 1] < number && number <= numbers[each + 2]) {
          return String(place + 1);
        }
      }
      return "";
    }).join("");
    words.forEach(([kind, text]) => code.append(kind ? element("span", {class: "word-" + kind}, text) : goldspan.visible(text)));
    cell.append(code);
    made.append(element("td", {class: "no"}, String(number)), element("td", {class: "who"}, (isGold ? "G" : "") + by), cell);
    return made;
  }

  function text(about, item, found, shown) {
    const isLines = about.kind === "lines";
    const figures = JSON.parse(found.files).map(file => {
      const box = element("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": "Gold of " + file.path}), table = element("table", {class: "text"}), body = element("tbody");
      const caption = element("caption"), head = element("thead"), names = element("tr");
      caption.append(element("span", {}, file.path));
      ["Line", "By", "Text"].forEach(name => names.append(element("th", {scope: "col", class: name === "Text" ? "word" : ""}, name)));
      head.append(names);
      file.lines.forEach((one, place) => {
        if (place && one[0] > file.lines[place - 1][0] + 1) {
          const gap = element("tr");
          gap.append(element("td", {class: "no"}, "⋯"), element("td"), element("td"));
          body.append(gap);
        }
        body.append(line(item, isLines ? item.files.indexOf(file.path) : -1, shown, one));
      });
      table.append(caption, head, body);
      box.append(table);
      return box;
    });
    const who = isLines ? "; " + shown.map((run, place) => (place + 1) + " returned by " + about.runs[run].title).join(", ") : "";
    return [element("h2", {}, "The gold as text"), ...figures, element("p", {class: "note"}, "G gold" + who + ". Text of " + item.repo + ", licence " + found.licence + ".")];
  }

  function quoted(name) {
    return "'" + name.replace(/'/g, "'\\''") + "'";
  }

  function without(about, item) {
    const made = element("p", {class: "note"}, "Text is not published here: " + about.without + " To see it: "), code = element("code"), paths = item.files.filter((path, file) => (item.goldByFile || [])[file] && item.goldByFile[file].length);
    if (item.commit && paths.length) {
      code.append(goldspan.visible("git show " + quoted(item.commit + ":" + paths[0])));
      made.append("in a clone of " + goldspan.visible(item.repo) + ", ", code, paths.length > 1 ? ", and so of the other files." : ".");
    } else {
      made.append(paths.length ? "the lines above, in the files that the benchmark gives of " : "candidate " + item.gold.join(", ") + " of this item's row in the benchmark's own files, of ", goldspan.visible(item.repo) + "; ");
      made.append(element("a", {href: "../data.html#sources"}, "where they are from"), ".");
    }
    return [made];
  }

  goldspan.give("item-text", {text, without});
})();

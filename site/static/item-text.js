// An item as text, if it may be shown: its query, its gold, and the lines that systems returned; else a note where to
// see it.
(function () {
  "use strict";
  const {element} = goldspan.strips;

  // The numbers (from 1) of the shown systems that returned a line.
  function returnedBy(held, number) {
    return held.map((ranges, place) => ranges.some(one => one[0] < number && number <= one[1]) ? String(place + 1) : "").join("");
  }

  // The words of a line, highlighted by kind if the kinds are known.
  function words(text, kinds) {
    const parts = [];
    let at = 0;
    for (const [, start, kind, length] of (kinds || "").matchAll(/(\d+)([a-z])(\d+) /g)) {
      const end = Number(start) + Number(length);
      parts.push(text.slice(at, Number(start)), element("span", {class: "word-" + kind}, text.slice(Number(start), end)));
      at = end;
    }
    return element("code", {}, ...parts, text.slice(at));
  }

  // The lines of a file that are gold, near gold, or returned by a shown system, as rows; null if there are none.
  function rows(about, item, file, shown) {
    const at = about.kind === "lines" ? item.files.indexOf(file.path) : -1, golden = file.n.filter((number, place) => file.gold[place]);
    const held = shown.map(run => {
      const answer = at < 0 ? -1 : item.run.indexOf(run);
      return answer < 0 ? [] : goldspan.strips.byFile(item.answer[answer], item.files.length)[at];
    });
    const body = element("tbody");
    let last = null;
    file.n.forEach((number, place) => {
      const by = returnedBy(held, number);
      if (at >= 0 && !by && !golden.some(gold => Math.abs(gold - number) <= about.around)) {
        return;
      }
      if (last !== null && number > last + 1) {
        body.append(element("tr", {}, element("td", {class: "no"}, "⋯"), element("td"), element("td")));
      }
      last = number;
      body.append(element("tr", file.gold[place] ? {class: "gold-line"} : {},
        element("td", {class: "no"}, String(number)), element("td", {class: "who"}, (file.gold[place] ? "G" : "") + by), element("td", {}, words(file.text[place], file.kinds[place]))));
    });
    return last === null ? null : body;
  }

  function table(path, body) {
    const names = ["Line", "By", "Text"].map(name => element("th", {scope: "col", class: name === "Text" ? "word" : ""}, name));
    return element("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": "Lines of " + path},
      element("table", {class: "text"}, element("caption", {}, element("span", {}, path)), element("thead", {}, element("tr", {}, ...names)), body));
  }

  function text(about, item, found, shown) {
    const golden = [], others = [];
    (found.files || []).forEach(file => {
      const body = rows(about, item, file, shown);
      if (body) {
        (file.gold.some(Boolean) ? golden : others).push(table(file.path.replace(/^cand:/, "candidate "), body));
      }
    });
    const isLines = about.kind === "lines", what = isLines ? goldspan.item.plural(others.length, "file") : goldspan.item.plural(others.length, "candidate");
    const who = isLines ? "; " + shown.map((run, place) => (place + 1) + " returned by " + about.runs[run].title).join(", ") : "";
    const licence = about.local ? "This site is for use on one machine and shows text under any licence. Build a site to publish with URL=." : "Text of " + item.repo + ", licence " + found.licence + ".";
    return [element("h2", {}, isLines ? "Gold and answers as text" : "Candidates as text"), ...golden,
      others.length ? element("details", {}, element("summary", {}, (isLines ? "Returned lines of files without gold: " : "Candidates that a system ranks first but are not gold: ") + what), ...others) : "",
      element("p", {class: "note"}, "G gold" + who + ". " + licence)].filter(Boolean);
  }

  // The text of the query.
  function question(about, found) {
    return found.question ? [element("h2", {}, "The question"), element("pre", {class: "question", tabindex: "0", role: "region", "aria-label": "The question"}, found.question)]
      : [element("p", {class: "note"}, "The question is not published here: no known licence permits it.")];
  }

  function quoted(name) {
    return "'" + name.replace(/'/g, "'\\''") + "'";
  }

  function without(about, item) {
    const made = element("p", {class: "note"}, "Text is not published here: " + about.without + " To see it: "), paths = item.files.filter((path, file) => (item.goldByFile || [])[file] && item.goldByFile[file].length);
    if (item.commit && paths.length) {
      const command = element("code", {}, "git show " + quoted(item.commit + ":" + paths[0]));
      made.append("in a clone of " + goldspan.visible(item.repo) + ", ", command, paths.length > 1 ? ", and likewise for the other files." : ".");
    } else {
      made.append(paths.length ? "the lines above, in the files that the benchmark gives of " : "candidate " + item.gold.join(", ") + " of this item's row in the benchmark's own files, of ", goldspan.visible(item.repo) + "; ");
      made.append(element("a", {href: "../data.html#sources"}, "where they are from"), ".");
    }
    return [made];
  }

  goldspan.give("item-text", {text, question, without});
})();

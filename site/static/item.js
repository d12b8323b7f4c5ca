// One item: a sentence on what happened to its gold, its files as strips, and how each score is computed; for an item
// with candidates, each system's first ones. Everything is computed here from ids and ranges of lines only.
(function () {
  "use strict";
  const {element, byFile, sizes, size, both, row, answer, axis, said} = goldspan.strips;
  const CLASSES = ["found", "past_budget", "seen", "other_lines", "not_returned", "unreachable", "no_answer"];

  function number(value) {
    return value.toLocaleString("en");
  }

  function plural(n, word, many) {
    return number(n) + " " + (n === 1 ? word : many || word + "s");
  }

  function share(part, whole) {
    return number(part) + "/" + number(whole) + " = " + (whole ? part / whole : 0).toFixed(2);
  }

  function ordinal(n) {
    const tail = n % 100 > 10 && n % 100 < 14 ? "th" : {1: "st", 2: "nd", 3: "rd"}[n % 10] || "th";
    return number(n) + tail;
  }

  // The part of an answer that is shown, in words: a retriever's up to the cut-off, an agent's final context.
  function until(about, run) {
    return run.steps ? "final context" : about.budget ? "first " + number(about.budget) + " characters" : "first " + plural(about.depth, "result");
  }

  // The answer of a run, as ranges by file; null if the run did not have the item.
  function answered(item, run) {
    const place = item.run.indexOf(run);
    return place < 0 ? null : byFile(item.answer[place], item.files.length);
  }

  function stepsOf(item, run) {
    const place = item.run.indexOf(run), numbers = place < 0 ? [] : item.steps[place], steps = [];
    for (let at = 0; at < numbers.length; at += 4) {
      const step = numbers[at];
      while (steps.length < step) {
        steps.push([]);
      }
      steps[step - 1].push(...numbers.slice(at + 1, at + 4));
    }
    return steps;
  }

  // The number of gold lines seen up to each step.
  function seenBy(item, run) {
    let seen = [];
    return stepsOf(item, run).map(step => {
      seen = seen.concat(step);
      return sizes(item.goldByFile, byFile(seen, item.files.length), item.lengths).both;
    });
  }

  function ledger(item, run) {
    for (let at = 0; at < item.ledger.length; at += CLASSES.length + 1) {
      if (item.ledger[at] === run) {
        return CLASSES.reduce((found, name, place) => Object.assign(found, {[name]: item.ledger[at + 1 + place]}), {});
      }
    }
    return null;
  }

  // Sentence templates by the ledger class with most of the gold that was not found.
  const TEMPLATES = {
    found: (name, amounts, n, cut) => ["Found:", `${name} returned all ${plural(n, "gold line")} in its ${cut}.`],
    past_budget: (name, amounts, n, cut) => ["Found, but too late:", `${name} returned ${number(amounts.found + amounts.past_budget)} of ${plural(n, "gold line")}, ${number(amounts.found)} of them in its ${cut}.`],
    seen: (name, amounts, n, cut, by) => ["Found, but not kept:", `${name} had seen ${amounts.found + amounts.seen === n ? "all " + plural(n, "gold line") : number(amounts.found + amounts.seen) + " of " + plural(n, "gold line")}${by ? " by step " + by : ""} and kept ${number(amounts.found)}.`],
    other_lines: (name, amounts, n, cut) => ["Right file, other lines:", `${name} returned ${number(amounts.found)} of ${plural(n, "gold line")} in its ${cut}; ${number(amounts.other_lines)} more are in files of which, at some point, it returned other lines.`],
    not_returned: (name, amounts, n) => ["Never reached:", `${number(amounts.not_returned)} of ${plural(n, "gold line")} are in files that ${name} never returned; it found ${number(amounts.found)}.`],
    unreachable: (name, amounts, n) => ["Out of reach:", `${number(amounts.unreachable)} of ${plural(n, "gold line")} are not in the index of ${name}; it found ${number(amounts.found)}.`],
    no_answer: (name, amounts, n) => ["No answer:", `${name} returned nothing for this item; ${n === 1 ? "its gold line is" : "all " + plural(n, "gold line") + " are"} lost.`]
  };

  function conclusion(about, item, shown) {
    const known = shown.map(run => [run, ledger(item, run)]).filter(each => each[1]);
    const lost = amounts => CLASSES.slice(1).reduce((most, name) => amounts[name] > amounts[most] ? name : most, CLASSES[1]);
    // An agent that read most of the gold it missed and dropped it is more interesting than the first system.
    const chosen = known.find(each => lost(each[1]) === "seen" && each[1].seen > 0) || known[0];
    if (!chosen) {
      return [];
    }
    const [run, amounts] = chosen, n = CLASSES.reduce((sum, name) => sum + amounts[name], 0);
    const by = 1 + seenBy(item, run).findIndex(seen => seen >= amounts.found + amounts.seen);
    const name = amounts.found === n ? "found" : lost(amounts);
    const [lead, text] = TEMPLATES[name](about.runs[run].title, amounts, n, until(about, about.runs[run]), by);
    return [element("strong", {}, lead), " " + goldspan.visible(text) + others(item, shown)];
  }

  function others(item, shown) {
    const golden = item.goldByFile.map(ranges => ranges.length > 0);
    const right = shown.filter(run => (answered(item, run) || []).some((ranges, file) => golden[file] && size(ranges)));
    if (shown.length < 2) {
      return "";
    }
    return right.length === shown.length ? ` All ${shown.length} systems shown returned lines of a gold file.`
      : ` Of the ${shown.length} systems shown, ${right.length || "none"} returned lines of a gold file.`;
  }

  function strips(about, item, shown) {
    return item.files.map((path, file) => {
      const gold = item.goldByFile[file], isOwn = item.own[0] === file, held = shown.map(run => answered(item, run));
      if (!gold.length && !(isOwn && held.some(each => each && size(each[file])))) {
        return "";
      }
      const known = gold.concat(...held.map(each => each ? each[file] : [])), length = item.lengths[file] >= 0 ? item.lengths[file] : Math.max(1, ...known.map(one => one[1]));
      const told = " " + (item.lengths[file] < 0 ? "not among the files that are searched" : plural(length, "line")) + ", " + number(size(gold)) + " gold";
      const made = element("figure", {class: "strips"}, element("figcaption", {}, element("code", {}, ...goldspan.breakable(path)), told), row("gold", "gold", length, [["right", gold]], "lines " + said(gold)));
      if (isOwn) {
        const [, start, hole, end] = item.own;
        made.append(row("the query: its text, its hole", "own", length, [["wrong", [[start, hole]]], ["right", [[hole, end]]]], "text from line " + (start + 1) + ", hole at lines " + said([[hole, end]])));
      }
      const without = [];
      shown.forEach((run, place) => {
        const one = about.runs[run], lines = held[place] ? held[place][file] : [];
        if (size(lines)) {
          made.append(answer(one.title + ", " + until(about, one), one.kind, length, gold, lines));
        } else {
          without.push(one.title);
        }
        if (item.replay && item.replay.run === run && item.replay.shows(file)) {
          made.append(item.replay.row(file, length));
        }
      });
      made.append(axis(length), without.length ? element("p", {class: "note"}, "Not in the scored answer of: " + without.join(", ")) : "");
      return made;
    });
  }

  function cells(line, texts) {
    texts.forEach(text => line.append(element("td", {}, text)));
  }

  function table(caption, names, lines) {
    const heads = names.map((name, place) => element("th", {scope: "col", class: place === 0 ? "name" : name === "Elsewhere" ? "word" : ""}, name));
    return element("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": caption},
      element("table", {class: "sums"}, element("caption", {}, element("span", {}, caption)), element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines)));
  }

  function name(one, text) {
    return element("th", {scope: "row", class: "name"}, element("a", {class: "to-system", href: one.page}, ...goldspan.breakable(one.title)), element("small", {}, text));
  }

  function sums(about, item, shown) {
    const lines = shown.map(run => {
      const one = about.runs[run], line = element("tr", one.kind === "baseline" ? {class: "baseline"} : {}), held = answered(item, run);
      line.append(name(one, until(about, one)));
      if (!held) {
        cells(line, ["–", "–", "–", "–", "–"]);
        line.append(element("td", {class: "word"}, "was not asked, or failed"));
        return line;
      }
      const found = sizes(item.goldByFile, held, item.lengths);
      cells(line, [number(found.returned), number(found.both), share(found.both, found.gold), share(found.both, found.returned)]);
      const f1 = 2 * found.both / (found.gold + found.returned) || 0, wrong = elsewhere(item, held);
      line.append(element("td", {}, element("b", {"data-f1": f1}, f1.toFixed(2))), element("td", {class: "word wrap"}, wrong.length ? plural(wrong.length, "file") + " without gold" : size(held.flat()) ? "gold files only" : "nothing returned"));
      return line;
    });
    return table("Lines returned, and the arithmetic of each score", ["System", "Returned", "Of them gold", "Coverage", "Precision", "F1", "Elsewhere"], lines);
  }

  function elsewhere(item, held) {
    return item.files.map((path, file) => file).filter(file => !item.goldByFile[file].length && held[file].length);
  }

  // The returned files without gold, an entry per system and file.
  function wrongFiles(about, item, shown) {
    const list = element("ul", {class: "wrong-files"});
    shown.forEach(run => {
      const held = answered(item, run);
      (held ? elsewhere(item, held) : []).forEach(file => {
        const lines = said(held[file]), told = item.lengths[file] < 0 ? "no such file" : lines ? "lines " + lines : "named without lines";
        list.append(element("li", {}, element("code", {}, item.files[file]), " " + told + " ", element("small", {}, about.runs[run].title)));
      });
    });
    const n = list.children.length;
    return n ? element("details", {}, element("summary", {}, "Returned from files without gold: " + plural(n, "answer")), list) : "";
  }

  function ranks(about, item, shown) {
    const held = shown.map(run => item.run.indexOf(run) < 0 ? null : item.answer[item.run.indexOf(run)]);
    const first = held.findIndex(Boolean), lines = [], n = item.n_candidates || Math.max(0, ...item.gold, ...held.flatMap(one => one ? one.slice(2) : [])) + 1;
    for (let candidate = 0; candidate < n; candidate += 1) {
      const isGold = item.gold.includes(candidate), line = element("tr", isGold ? {class: "golden"} : {});
      line.append(element("th", {scope: "row", class: "name"}, "candidate " + candidate + (isGold ? " · gold" : "")));
      held.forEach(one => {
        const place = one ? one.slice(2).indexOf(candidate) : -1, rank = isGold && one && one[0] ? one[0] : place + 1;
        line.append(element("td", {}, one === null ? "–" : rank ? String(rank) : "after " + (one.length - 2)));
      });
      lines.push(line);
    }
    const last = element("tr", {}, element("th", {scope: "row", class: "name"}, about.metric));
    cells(last, held.map(one => !one || one[1] < 0 ? "–" : String(one[1])));
    lines.push(last);
    const sentence = element("p", {class: "verdict"});
    if (first >= 0) {
      const [rank, right, top] = held[first], title = about.runs[shown[first]].title, best = held.filter(one => one && one[0] === 1).length;
      const text = rank === 1 ? `${title} ranks the gold candidate first of ${n}.` : rank ? `${title} ranks the gold candidate ${ordinal(rank)} of ${n}; candidate ${top} is first.` : right === 1 ? `${title} ranks something similar to the gold candidate first.` : `${title} does not return the gold candidate.`;
      sentence.append(element("strong", {}, rank === 1 || (!rank && right === 1) ? "Found:" : rank ? "Lost to another candidate:" : "Not returned:"), " " + goldspan.visible(text) + (shown.length > 1 ? ` Of the ${shown.length} systems shown, ${best || "none"} ${best === 1 ? "ranks" : "rank"} it first.` : ""));
    }
    return [sentence, table("Rank of each candidate: stored are the first few of every list, and the rank of gold", ["Candidate"].concat(shown.map(run => about.runs[run].title)), lines)];
  }

  function facts(about, item) {
    const commit = item.commit && /^[0-9a-f]{12,}$/.test(item.commit) ? item.commit.slice(0, 8) : item.commit;
    const words = [item.repo + (commit ? " @ " + commit : ""), item.language, item.source, item.subset, item.level].filter(Boolean);
    const completed = item.target_path ? [" · completes ", element("code", {}, item.target_path)] : [];
    return element("p", {class: "lead tight"}, words.join(" · "), ...completed);
  }

  // The content of an item's view for these systems, as elements one below the other.
  function body(about, item, shown) {
    if (item.why_not !== undefined) {
      return [element("p", {class: "verdict"}, "Cannot be scored: " + item.why_not + ". It is left out of every average.")];
    }
    if (about.kind === "candidates") {
      return ranks(about, item, shown);
    }
    const nothing = item.gold.length ? "" : "No gold line of this item is kept under " + about.protocol + ".";
    const sentence = element("p", {class: "verdict"}, ...conclusion(about, item, shown), nothing);
    return [sentence, ...strips(about, item, shown), sums(about, item, shown), wrongFiles(about, item, shown)];
  }

  goldspan.item = {facts, body, strips, stepsOf, seenBy, plural, share};
})();

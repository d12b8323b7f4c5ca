// A leaderboard's markup from the values of board-data.js, equal to the template's for the opening view, and what
// scripts add to both: buttons, checkboxes, and the settings of the controls.
(function () {
  "use strict";
  const { count, fixed, plural, values, cell, between, measured } = window.goldspan.board;
  // Below this number of items a cell is hatched, and no interval is shown.
  const FEW = 5;

  function h(tag, attributes, ...content) {
    const made = document.createElement(tag);
    Object.entries(attributes || {}).forEach(([name, value]) => {
      if (value !== null && value !== undefined && value !== false) {
        made.setAttribute(name, value === true ? "" : value);
      }
    });
    made.append(...content.filter((one) => one !== null && one !== "" && one !== undefined && one !== false));
    return made;
  }

  function small(text) {
    return text ? [" ", h("small", null, text)] : [];
  }

  function percent(value) {
    return value.toFixed(1) + "%";
  }

  function named(system) {
    const name = goldspan.breakable(system.name);
    return h("a", { class: "to-system", href: system.path }, ...(system.by ? [h("span", null, ...name), " ", h("span", { class: "by" }, system.by)] : name));
  }

  function bar(line) {
    if (!line.bar) {
      return null;
    }
    return h("span", { class: "ci " + line.system.shape, "aria-hidden": "true" },
      h("i", { style: "left:" + percent(line.bar.start) + ";width:" + percent(line.bar.width) }),
      h("i", { class: "at", style: "left:" + percent(line.bar.at) }));
  }

  function row(found, line) {
    const { has } = found;
    return h("tr", { class: line.system.mark ? "baseline" : null, "data-run": line.system.key },
      has.rank && h("td", { class: "rank" }, line.rank, ...small(line.places), ...(line.tie ? [" ", h("b", { class: "tie", title: "Tie group" }, line.tie)] : [])),
      h("th", { scope: "row", class: "name" }, named(line.system), ...small(line.state)),
      h("td", { class: "primary" }, h("b", null, line.shown), ...small(line.interval), bar(line)),
      has.delta && h("td", { class: "delta" }, line.delta, ...small(line.deltaInterval)),
      has.oracle && h("td", { class: "oracle" }, line.oracle),
      h("td", { class: "n" }, line.n, ...small(line.failed ? count(line.failed) + " failed" : "")),
      has.read && h("td", { class: "read" }, line.read, ...(line.time ? [" ", h("small", null, h("span", { "data-measured": true }, line.time))] : [])),
      ...found.further.map((one) => h("td", { class: "further" }, line.further[one.name])),
      h("td", { class: "picker needs-js" })
    );
  }

  // The columns, as [key, title, class].
  function columns(found) {
    const { has, column, primary, board } = found;
    const by = column === primary ? board.averages[board.average] : primary.title;
    return [
      has.rank && ["rank", found.isByPrimary ? "Rank" : "Rank by " + by, "rank"], ["system", "System", "name"], [column.name, column.title, "primary"],
      has.delta && ["delta", "Difference", "delta"], has.oracle && ["oracle", "% of oracle", "oracle"], ["n", "n/N", "n"],
      has.read && ["read", "Characters", "read"], ...found.further.map((one) => [one.name, one.title, "further"])
    ].filter(Boolean);
  }

  function head(found, sorted, direction) {
    const heads = columns(found).map(([key, words, kind]) => h("th", { scope: "col", class: kind, "data-key": key, "aria-sort": key === sorted ? direction : null }, words));
    const made = h("thead", null, h("tr", null, ...heads, h("th", { scope: "col", class: "picker needs-js" }, "Compare")));
    if (found.marks.length) {
      const names = found.marks.map((mark) => h("span", { class: "mark-name" + (mark.at > 50 ? " left" : ""), style: "left:" + percent(mark.at) },
        mark.system.name + " " + mark.shown + (mark.isBeyond ? " ▸" : "")));
      const before = 1 + found.has.rank;
      made.append(h("tr", { class: "marks", "aria-hidden": "true" }, h("th", { scope: "row", class: "name", colspan: before }, "Reference lines"), h("td", { class: "primary" }, ...names),
        h("td", { colspan: heads.length + 1 - before - 1 })));
    }
    return made;
  }

  function bodies(found, parts) {
    const width = columns(found).length + 1;
    return parts.filter((part, place) => place === 0 || part.lines.length).map((part, place) => h("tbody", null,
      !found.nSystems && !place && h("tr", null, h("td", { class: "word", colspan: width }, "No system fits the filters.")),
      part.title && h("tr", { class: "apart" }, h("th", { scope: "rowgroup", colspan: width }, h("span", null, part.title))),
      ...part.lines.map((line) => row(found, line))));
  }

  function caption(found, average) {
    const { board, at } = found;
    return [h("strong", null, found.column.title), ", " + board.averages[average] + "; " + board.benchmark + ", " + board.short + ", " + at.value + ": " + plural(at.n, "item")];
  }

  function notes(found) {
    const lines = found.marks.map((mark) => mark.system.name + (mark.system.by ? " over " + mark.system.by : "") + " " + mark.shown + (mark.interval ? " (" + mark.interval + ")" : ""));
    return (lines.length ? "Reference lines: " + lines.join("; ") + ". " : "") + (found.isOfItems ? found.board.itemIntervals : "") + (found.isTooFew ? "Too few items to rank. " : "");
  }

  // Updates the texts around the table; a sentence about another view names that view.
  function describe(section, found) {
    const verdict = section.querySelector(".verdict");
    if (verdict) {
      verdict.textContent = found.verdict;
    }
    section.querySelector(".marks-said").textContent = notes(found);
    section.querySelector("[data-metric-title]").textContent = found.column.title;
  }

  // Draws the whole table again.
  function draw(table, found, parts, state, sorted, direction) {
    const style = found.marks.map((mark, place) => (mark.isBeyond ? "" : "--m" + (place + 1) + ":" + percent(mark.at) + ";")).join("");
    table.setAttribute("style", style);
    table.caption.firstElementChild.replaceChildren(...caption(found, state.average));
    table.tHead.replaceWith(head(found, sorted, direction));
    Array.from(table.tBodies).forEach((body) => body.remove());
    table.append(...bodies(found, parts));
  }

  // The view's metric by the values of a slice; shades run from the least to the greatest number of the systems.
  function drawHeat(table, found, files, state, lines) {
    const { board, column, digits } = found;
    const slice = board.slices.find((one) => one.name === state.heat);
    const of = slice.values.map(([value]) => values(board, column, files[column.name], slice.name + "=" + value, state.average));
    const numbers = found.systems.flatMap((run) => of.map((each) => each[run].value)).filter((one) => one !== null);
    const least = numbers.length ? Math.min(...numbers) : 0, most = numbers.length ? Math.max(...numbers) : 0;
    const sizes = of.map((each) => Math.max(0, ...each.map((one) => (one.cell ? one.cell.n : 0))));
    const shade = (value) => Math.floor((value === null ? 0 : Math.min(Math.max((value - least) / (most - least || 1), 0), 1)) * 8 + 0.5);
    const over = slice.n_items === found.at.n ? "the " + plural(found.at.n, "item") + " of the table above" :
      plural(slice.n_items, "item") + " (the table above: the " + count(found.at.n) + " of " + found.at.value + ")";
    table.caption.firstElementChild.textContent = board.benchmark + ", " + board.short + ": " + column.title + ", " + board.averages[state.average] + ", by " + slice.title + "; " + over +
      ". Stronger colour: higher score, from " + fixed(least, digits) + " to " + fixed(most, digits) + ". Hatched: fewer than 5 items" +
      (slice.n_values > slice.values.length ? ". Shown: the " + slice.values.length + " of " + count(slice.n_values) + " with the most items; all are in aggregates.parquet" : "");
    table.tHead.replaceChildren(h("tr", null, h("th", { scope: "col", class: "name" }, "System"), ...slice.values.map(([value], place) =>
      h("th", { scope: "col" }, h("span", null, ...goldspan.breakable(value)), h("small", null, plural(sizes[place], "item"))))));
    table.tBodies[0].replaceChildren(...lines.map((line) => h("tr", null, h("th", { scope: "row", class: "name" }, named(line.system)),
      ...of.map((each, place) => h("td", { class: "h" + shade(each[line.run].value) + (sizes[place] < FEW ? " few" : "") }, fixed(each[line.run].value, digits))))));
    return column.title + " by " + slice.title;
  }

  function listed(title, pairs) {
    return h("div", null, h("h4", null, title), h("dl", { class: "facts-of" }, ...pairs.map(([key, value]) => h("div", null, h("dt", null, key), h("dd", null, value)))));
  }

  // The details of a row: its number over every slice, the ledger of its gold, its cost, and how to reproduce it.
  function details(found, files, costs, line, state) {
    const { board, column, digits } = found, system = line.system;
    const slices = board.slices.flatMap((slice) => slice.values.map(([value]) => {
      const of = cell(board, files[column.name], slice.name + "=" + value, line.run);
      const ends = { macro: ["low", "high"], micro: ["micro_low", "micro_high"], by_repo: ["by_repo_low", "by_repo_high"] }[state.average];
      return of && [value === "all" ? "all" : value, fixed(of[state.average], digits) + (of[ends[0]] === null || of.n < FEW ? "" : " (" + between(of[ends[0]], of[ends[1]], digits) + ")") + ", n " + count(of.n)];
    }).filter(Boolean));
    const cost = costs && costs[line.run];
    const spent = [["Chunks", count(system.chunks)], ["Characters read", line.read]];
    if (cost) {
      const timed = (value, scale, unit) => (value === null ? "–" : measured(value * scale) + unit);
      spent.push(["Index", timed(cost[0], 1, " s") + ", " + timed(cost[1], 1e-6, " MB")], ["Query, median and 95th percentile", timed(cost[2], 1000, " ms") + ", " + timed(cost[3], 1000, " ms")], ["Measured on", cost[4]]);
    }
    const code = (label, text) => h("div", null, h("h4", null, label), h("pre", { tabindex: "0", role: "region", "aria-label": label }, h("code", null, text)));
    return h("tr", { class: "details" }, h("td", { colspan: columns(found).length + 1 }, h("div", { class: "opened" },
      h("p", null, h("span", { class: "origin" }, system.origin)),
      system.ledger.length ? h("div", { class: "ledger" }, h("h4", null, "What happened to the lines that were needed"),
        h("ul", { class: "legend" }, ...system.ledger.map(([name, title, part]) => h("li", null, h("span", { class: "swatch " + name }), title + " " + (part >= 0.005 ? fixed(100 * part, 0) : "< 1") + " %"))),
        h("div", { class: "bar", "aria-hidden": "true" }, ...system.ledger.map(([name, , part]) => h("span", { class: name, style: "width:" + (100 * part).toFixed(3) + "%" }))),
        system.precision === null ? null : h("p", null, fixed(100 * system.precision, 1) + " % of the lines it returned are gold.")) : null,
      listed(column.title + " by slice", slices), listed("Cost", spent),
      code("The run, and the command that says how to make it again", board.again || ".venv/bin/python -m evaluate repro \"" + system.id + "\""),
      board.citation ? code("BibTeX of the benchmark", board.citation) : null)));
  }

  // A column's name, split into metric and cut-off.
  function split(name) {
    const at = name.indexOf("@");
    return at < 0 ? [name, ""] : [name.slice(0, at), name.slice(at + 1)];
  }

  // Shows the cut-offs that the metric has, and sets every control to the state.
  function setControls(section, state, names) {
    const [metric, cut] = split(state.metric);
    const cuts = names.map(split).filter((one) => one[0] === metric).map((one) => one[1]);
    section.querySelectorAll('[data-control="cut"]').forEach((one) => { one.closest("label").hidden = !cuts.includes(one.value); });
    const box = section.querySelector("fieldset[data-cuts]");
    if (box) {
      box.hidden = cuts.length < 2;
    }
    const level = section.querySelector('[data-control="quantity"] option[value="' + CSS.escape(metric) + '"]');
    const wanted = { protocol: state.protocol, quantity: metric, cut, level: level ? level.dataset.level : "" };
    section.querySelectorAll("[data-control]").forEach((one) => {
      const name = one.dataset.control, value = name in wanted ? wanted[name] : state[name];
      if (one.type === "radio") {
        one.checked = one.value === value;
      } else if (one.type === "checkbox") {
        one.checked = name === "columns" ? value.split(",").includes(one.value) : value === one.value;
      } else {
        one.value = value;
      }
    });
  }

  // Adds buttons to the heads, and to each row a button for its details and a checkbox to compare it.
  function dress(section, picks) {
    const table = section.querySelector("table[data-main]");
    table.querySelectorAll("thead th[data-key]:not(:has(button))").forEach((cell) => {
      const button = h("button", { type: "button" });
      button.append(...cell.childNodes);
      cell.append(button);
    });
    const picked = picks ? picks.split(",") : [];
    table.querySelectorAll("tr[data-run]").forEach((row) => {
      const name = row.querySelector("th.name"), key = row.dataset.run;
      const label = name.querySelector("a").textContent;
      if (!name.querySelector("button")) {
        name.prepend(h("button", { type: "button", class: "open", "aria-expanded": "false", "aria-label": "Details of " + label, title: "Slices, gold, cost, run" }));
        row.querySelector("td.picker").replaceChildren(h("input", { type: "checkbox", "aria-label": "Compare " + label, value: key }));
      }
      row.querySelector("td.picker input").checked = picked.includes(key);
    });
    pick(section, picks);
  }

  // Updates the link that compares the picked systems; `picks` are their keys, separated by commas.
  function pick(section, picks) {
    const picked = picks ? picks.split(",") : [];
    const box = section.querySelector(".picks"), link = box.querySelector("a");
    box.hidden = !picked.length;
    const keys = picked.map((run) => run.split(".")[1] || run);
    link.hidden = picked.length < 2;
    link.textContent = picked.length < 2 ? "" : "Compare these " + picked.length;
    link.href = "compare.html#protocol=" + section.dataset.name + "&systems=" + keys.join(",");
    box.querySelector("span").textContent = picked.length === 1 ? "One system picked; pick another to compare them." : "";
  }

  // Updates the button that shows all systems, or only the first.
  function setMore(section, found, parts, state) {
    const more = section.querySelector("[data-more]");
    const n = parts[0].lines.length + parts[2].lines.length;
    more.hidden = state.rows !== "all" && n >= found.nSystems || state.rows === "all" && found.nSystems <= 25;
    more.textContent = state.rows === "all" ? "Show the first 15" : "Show all " + plural(found.nSystems, "system");
  }

  Object.assign(window.goldspan.board, { draw, drawHeat, details, describe, columns, split, dress, pick, setMore, setControls });
})();

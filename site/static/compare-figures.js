// The figures of a comparison: differences by repository, items from hard to easy, and the ledger of the gold. Each has
// its numbers in a table below, and can be saved as SVG or CSV.
(function () {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const KEPT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "text-anchor"];
  const MOST_ROWS = 24;
  // The shapes of KIND_LOOKS in report/charts/figures.py.
  const SHAPES = { retriever: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z", agent: "M-4-4H4V4H-4Z", baseline: "M0-5.5L5.5 0 0 5.5-5.5 0Z", oracle: "M0-5L5 4H-5Z", imported: "M-4-5L5 0-4 5Z" };
  const { element, number, signed, count, visible, csv, keep } = goldspan.outcomes;

  function drawn(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    if (text !== undefined) { made.textContent = text; }
    return made;
  }

  function table(caption, head, rows) {
    const made = element("table");
    made.appendChild(element("caption")).appendChild(element("span", caption));
    const line = made.createTHead().insertRow();
    head.forEach((text, place) => line.appendChild(element("th", text, { scope: "col", class: place ? "" : "name" })));
    const body = made.createTBody();
    rows.forEach((row) => {
      const line = body.insertRow();
      row.forEach((text, place) => line.appendChild(element(place ? "td" : "th", text, place ? {} : { scope: "row", class: "name" })));
    });
    return made;
  }

  // A picture for a file, which has no style sheet: every mark gets its computed style.
  function alone(svg) {
    const copy = svg.cloneNode(true);
    const from = svg.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((each, place) => {
      const style = getComputedStyle(from[place]);
      KEPT.forEach((name) => each.setAttribute(name, style.getPropertyValue(name)));
    });
    copy.setAttribute("xmlns", SVG);
    return new XMLSerializer().serializeToString(copy);
  }

  // A picture with its downloads and its numbers, rounded in the page and exact in the CSV.
  function figure(svg, name, caption, head, shown, exact) {
    const made = element("figure", null, { class: "compared" });
    made.appendChild(svg);
    const buttons = made.appendChild(element("p", null, { class: "keep" }));
    [["SVG", () => keep(name + ".svg", alone(svg), "image/svg+xml")], ["CSV", () => keep(name + ".csv", csv([head].concat(exact())), "text/csv")]].forEach(([text, act]) => {
      const button = buttons.appendChild(element("button", text, { type: "button", "aria-label": caption + " as " + text }));
      button.addEventListener("click", act);
    });
    const numbers = made.appendChild(element("details"));
    numbers.appendChild(element("summary", "The numbers"));
    // Made when opened, because a table of thousands of repositories takes a while.
    numbers.addEventListener("toggle", () => {
      const box = numbers.appendChild(element("div", null, { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }));
      box.appendChild(table(caption, head, shown()));
    }, { once: true });
    return made;
  }

  function step(range) {
    const rough = range / 5 || 1;
    const power = Math.pow(10, Math.floor(Math.log10(rough)));
    return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  }

  // A row per repository or language with the difference, second minus first; the last row is over all items.
  function forest(width, rows, whole, kind, said) {
    const first = rows.slice(0, MOST_ROWS).concat(whole || []);
    const least = Math.min(0, ...first.map((row) => (row.low === null ? row.delta : row.low)));
    const most = Math.max(0, ...first.map((row) => (row.high === null ? row.delta : row.high)));
    const room = Math.min(Math.max(width * 0.36, 90), 280);
    const x = (value) => room + 10 + (value - least) / (most - least || 1) * (width - room - 24);
    const height = first.length * 22 + 30;
    const svg = drawn("svg", { width: width, height: height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": said, class: "forest-plot " + kind });
    const every = step(most - least);
    for (let tick = Math.ceil(least / every) * every; tick <= most + every / 1e6; tick += every) {
      const digits = Math.max(0, -Math.floor(Math.log10(every)));
      svg.appendChild(drawn("line", { x1: x(tick), x2: x(tick), y1: 4, y2: height - 22, class: Math.abs(tick) < every / 1e6 ? "zero" : "rule" }));
      svg.appendChild(drawn("text", { x: x(tick), y: height - 6, class: "tick", "text-anchor": "middle" }, Math.abs(tick) < every / 1e6 ? "0" : signed(tick, digits)));
    }
    first.forEach((row, place) => {
      const y = place * 22 + 15;
      const text = visible(row.label) + " (" + count(row.n) + ")";
      const most = Math.floor(room / 6.8);
      const label = svg.appendChild(drawn("text", { x: room, y: y + 4, class: row === whole ? "label whole" : "label", "text-anchor": "end" }, text.length > most ? "…" + text.slice(text.length - most + 1) : text));
      label.appendChild(drawn("title", {}, text));
      if (row.low !== null) {
        svg.appendChild(drawn("line", { x1: x(row.low), x2: x(row.high), y1: y, y2: y, class: row === whole ? "interval whole" : "interval" }));
      }
      const at = "translate(" + x(row.delta) + " " + y + ")" + (row.low === null ? " scale(0.7)" : "");
      svg.appendChild(drawn("path", { d: SHAPES[kind] || SHAPES.retriever, transform: at, class: row.low === null ? "dot few" : "dot" }));
    });
    return svg;
  }

  function forests(host, width, board, a, b, slice, names, whole) {
    host.textContent = "";
    const parts = [["repo", "repository", "repositories"], ["language", "language", "languages"]]
      .map((words) => [words, goldspan.outcomes.within(board, a, b, slice, words[0])]).filter(([, rows]) => rows.length > 1);
    const each = parts.length > 1 && width > 900 ? (width - 40) / 2 : Math.min(width, 760);
    parts.forEach(([[, title, many], rows]) => {
      const caption = names.b + " minus " + names.a + " by " + title;
      const of = (row, shape) => [visible(row.label), row.n, shape(row.delta), shape(row.low), shape(row.high)];
      const above = rows.filter((row) => row.delta > 0).length;
      const said = caption + ": above in " + above + " of " + rows.length + " " + many + ", from " + signed(Math.min(...rows.map((row) => row.delta)), 2) + " to " + signed(Math.max(...rows.map((row) => row.delta)), 2) + ".";
      const shown = () => rows.map((row) => of(row, (value) => signed(value, 3)));
      const made = figure(forest(each, rows, whole, names.kind, said), "by-" + title, caption, [title, "n", "difference", "low", "high"], shown, () => rows.map((row) => of(row, (value) => value)));
      made.insertBefore(element("figcaption", "By " + title + (rows.length > MOST_ROWS ? ": the " + MOST_ROWS + " with the most items of " + rows.length : "") + "; numbers of items in brackets." + (whole ? " Last row: all items, with an interval over repositories." : "")), made.firstChild);
      host.appendChild(made);
    });
  }

  // The items of a slice, hardest first, by counting sort, since ease has 256 steps.
  function byEase(board, slice) {
    const starts = new Uint32Array(257);
    for (let i = slice.from; i < slice.to; i++) { starts[board.ease[i] + 1] += 1; }
    for (let code = 0; code < 256; code++) { starts[code + 1] += starts[code]; }
    const order = new Uint32Array(slice.to - slice.from);
    for (let i = slice.from; i < slice.to; i++) { order[starts[board.ease[i]]++] = i; }
    // If lower is better, a greater mean is a harder item.
    return board.sign < 0 ? order.reverse() : order;
  }

  // A run's means over `n` parts of `order` of equal size; NaN where it has no value.
  function binned(order, values, n) {
    return Array.from({ length: n }, (_, bin) => {
      let sum = 0;
      let held = 0;
      for (let i = Math.floor(bin * order.length / n); i < Math.floor((bin + 1) * order.length / n); i++) {
        const value = values[order[i]];
        if (value === value) { sum += value; held += 1; }
      }
      return held ? sum / held : NaN;
    });
  }

  function matrix(host, width, board, runs, slice, names) {
    host.textContent = "";
    const order = byEase(board, slice).filter((at) => runs.some((run) => run.value[at] === run.value[at]));
    const n = Math.min(order.length, Math.max(1, Math.floor(width / 2)));
    const rows = runs.map((run) => binned(order, run.value, n));
    const most = Math.max(1e-12, ...rows.map((row) => row.reduce((one, other) => (other > one ? other : one), 0)));
    const height = rows.length * 40 + 20;
    const said = "Each system's values on " + count(order.length) + " items with a value, hardest first, the darker the greater; the table below has their means by tenths.";
    const svg = drawn("svg", { width: width, height: height, viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": said, class: "matrix-plot" });
    rows.forEach((row, place) => {
      const y = place * 40;
      svg.appendChild(drawn("text", { x: 0, y: y + 13, class: "label" }, names[place]));
      svg.appendChild(drawn("rect", { x: 0, y: y + 18, width: width, height: 18, class: "ground" }));
      // Neighbours of the same shade become one mark.
      for (let start = 0; start < n;) {
        let end = start + 1;
        const shade = Math.round(Math.max(row[start], 0) / most * 20);
        while (end < n && (Math.round(Math.max(row[end], 0) / most * 20) === shade || (row[end] !== row[end] && row[start] !== row[start]))) { end += 1; }
        if (row[start] !== row[start]) {
          svg.appendChild(drawn("rect", { x: start / n * width, y: y + 26, width: (end - start) / n * width, height: 2, class: "absent" }));
        } else if (shade) {
          svg.appendChild(drawn("rect", { x: start / n * width, y: y + 18, width: (end - start) / n * width, height: 18, class: "cell", "fill-opacity": shade / 20 }));
        }
        start = end;
      }
    });
    svg.appendChild(drawn("text", { x: 0, y: height - 4, class: "tick" }, "← hard for most systems"));
    svg.appendChild(drawn("text", { x: width, y: height - 4, class: "tick", "text-anchor": "end" }, "easy →"));
    const parts = Math.min(10, order.length);
    const tenths = runs.map((run) => binned(order, run.value, parts));
    const size = (part) => Math.floor((part + 1) * order.length / parts) - Math.floor(part * order.length / parts);
    const lines = (shape) => Array.from({ length: parts }, (_, part) => [part === 0 ? "hardest" : part === parts - 1 ? "easiest" : String(part + 1), size(part)].concat(tenths.map((row) => shape(row[part]))));
    const head = ["tenth of the items", "n"].concat(names);
    host.appendChild(figure(svg, "items-by-difficulty", "Mean by tenths of the items, hardest first", head, () => lines((value) => number(value, 3)), () => lines((value) => value)));
    return { n_bins: n, n_items: order.length, most: most };
  }

  const OF_RETURNED = "Precision by line";

  function ledger(host, board, shares, precisions, names) {
    host.textContent = "";
    const present = board.classes.map((_, place) => place).filter((place) => shares.some((row) => row && row[place] > 0));
    if (!present.length) {
      host.appendChild(element("p", "This protocol does not record what happened to the gold.", { class: "note" }));
      return;
    }
    const legend = host.appendChild(element("ul", null, { class: "legend" }));
    present.forEach((place) => {
      const item = legend.appendChild(element("li"));
      item.appendChild(element("span", null, { class: "swatch " + board.classes[place][0] }));
      item.append(board.classes[place][1]);
    });
    const isLines = precisions.some((share) => share !== null);
    const made = table("Shares of the needed lines by what happened to them; bars sum to 100 %", ["System", "Shares of the needed lines"].concat(isLines ? [OF_RETURNED] : []), []);
    made.className = "bars";
    made.caption.className = "off";
    const columns = made.insertBefore(element("colgroup"), made.tHead);
    columns.append(element("col", null, { class: "who" }), element("col"));
    if (isLines) { columns.append(element("col", null, { class: "precision" })); }
    shares.forEach((row, which) => {
      const line = made.tBodies[0].insertRow();
      line.appendChild(element("th", names[which], { scope: "row" }));
      const bar = line.insertCell().appendChild(element("div", null, { class: "bar" }));
      present.filter((place) => row && row[place] > 0).forEach((place) => {
        const share = row[place];
        const text = share >= 0.005 ? number(100 * share, 0) + " %" : "< 1 %";
        const part = bar.appendChild(element("span", null, { class: board.classes[place][0], title: board.classes[place][1] + " " + text }));
        part.style.width = (100 * share).toFixed(3) + "%";
        const inner = part.appendChild(element("span", null, share < 0.045 ? { class: "off" } : {}));
        inner.appendChild(element("span", board.classes[place][1] + " ", { class: "off" }));
        inner.append(text);
      });
      if (isLines) { line.appendChild(element("td", precisions[which] === null ? "–" : number(100 * precisions[which], 1) + " %", { class: "precision" })); }
    });
    host.appendChild(made);
    const file = () => keep("ledger.csv", csv([["system"].concat(board.classes.map((one) => one[1]), isLines ? [OF_RETURNED] : [])].concat(shares.map((row, which) => [names[which]].concat(row || board.classes.map(() => ""), isLines ? [precisions[which]] : [])))), "text/csv");
    host.appendChild(element("p", null, { class: "keep" })).appendChild(element("button", "CSV", { type: "button", "aria-label": "Shares of the gold as CSV" })).addEventListener("click", file);
  }

  goldspan.figures = { forests: forests, matrix: matrix, ledger: ledger };
})();

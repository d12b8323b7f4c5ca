// Compare: selection, verdicts, and calls of the other scripts that draw. The state is stored in the address: a copied
// link shows the same view, back and forward go from view to view.
(function () {
  "use strict";
  const form = document.getElementById("pick");
  if (!form) {
    return;
  }
  const { element, number, signed, count, pair } = goldspan.outcomes;
  const byId = (id) => document.getElementById(id);
  const MOST = Number(form.dataset.most);
  const MOST_IN_ADDRESS = 300;
  const boards = Array.from(form.protocol.options);
  const EMPTY = { slice: "", pair: "", dir: "", repo: "", why: "", page: 1 };
  let state = null; // protocol (an option's value), systems (keys), and the fields of EMPTY
  let board = null;
  let latest = 0;
  let exact = []; // the table of verdicts with all digits
  const VERDICT = ["delta", "low", "high", "p", "p_adjusted", "verdict", "exploratory", "wins", "ties", "losses", "smallest_detectable", "n_items", "n_repos", "unit"];

  function given() {
    return new URLSearchParams(location.hash.slice(1));
  }

  // The board of an address: if a protocol has several, one per task, the one with the systems.
  function meant(name, keys) {
    const exact = boards.filter((option) => option.value === name);
    const alike = exact.length ? exact : boards.filter((option) => option.value.startsWith(name + "/"));
    const order = name && alike.length ? alike : boards.slice(0, 1);
    return order.reduce((found, option) => found.then((known) => {
      if (known && keys.every((key) => known.board.place(key) >= 0)) {
        return known;
      }
      return goldspan.outcomes.open(option.dataset.name).then((one) => {
        const fits = keys.every((key) => one.place(key) >= 0);
        return fits || !known ? { option: option, board: one } : known;
      });
    }), Promise.resolve(null));
  }

  function read() {
    const asked = given();
    const keys = (asked.get("systems") || "").split(",").filter(Boolean);
    return meant(asked.get("protocol") || "", keys).then((found) => {
      const known = Array.from(new Set(keys)).filter((key) => found.board.place(key) >= 0).slice(0, MOST);
      const systems = known.length > 1 ? known : found.board.first.slice();
      const page = parseInt(asked.get("page"), 10);
      const one = (name, values) => (values.includes(asked.get(name)) ? asked.get(name) : "");
      return {
        board: found.board,
        state: {
          protocol: found.option.value, systems: systems, slice: one("slice", found.board.strata.slice(1)), pair: one("pair", systems.slice(2)),
          dir: one("dir", ["better", "worse"]), repo: one("repo", found.board.repos), why: one("why", found.board.classes.map(([name]) => name)), page: page > 0 ? page : 1
        }
      };
    });
  }

  function hash() {
    const kept = new URLSearchParams();
    if (state.protocol !== boards[0].value) { kept.set("protocol", state.protocol); }
    if (state.systems.join() !== board.first.join()) { kept.set("systems", state.systems.join(",")); }
    Object.keys(EMPTY).forEach((key) => {
      if (state[key] && state[key] !== EMPTY[key]) { kept.set(key, state[key]); }
    });
    const said = () => kept.toString().replace(/%40/g, "@").replace(/%2C/g, ",").replace(/%2F/g, "/");
    // The name of a repository may be of any length.
    if (said().length >= MOST_IN_ADDRESS) { kept.delete("repo"); }
    return said();
  }

  function write() {
    const now = hash();
    if (now !== location.hash.slice(1)) {
      history.pushState(null, "", now ? "#" + now : location.pathname + location.search);
    }
  }

  // Applies a change made by the user.
  function change(part, said) {
    state = Object.assign({}, state, part);
    write();
    return show().then(() => { byId("said").textContent = said; });
  }

  function options(select, pairs, value) {
    select.textContent = "";
    pairs.forEach(([key, text]) => select.appendChild(element("option", text, { value: key })));
    select.value = value;
    select.parentNode.hidden = pairs.length < 2;
  }

  function run(key) {
    return board.runs[board.place(key)];
  }

  function offer() {
    form.protocol.value = state.protocol;
    options(form.slice, board.strata.map((value, place) => [place ? value : "", board.slice === "all" ? "all items" : value]), state.slice);
    options(form.base, state.systems.map((key) => [key, run(key).name]), state.systems[0]);
    byId("chosen").textContent = state.systems.length + " of " + board.runs.length;
    const list = byId("choices");
    const at = document.activeElement && list.contains(document.activeElement) ? document.activeElement.value : "";
    list.textContent = "";
    board.runs.forEach((one) => {
      const label = list.appendChild(element("li")).appendChild(element("label"));
      const input = label.appendChild(element("input", null, { type: "checkbox", value: one.key }));
      input.checked = state.systems.includes(one.key);
      input.disabled = input.checked ? state.systems.length <= 2 : state.systems.length >= MOST;
      label.append(" " + one.name + " ");
      label.appendChild(element("small", [one.kind, one.state].filter(Boolean).join(", ")));
      if (one.key === at) { input.focus(); }
    });
    search();
    options(document.querySelector("[name=pair]"), state.systems.slice(1).map((key, place) => [place ? key : "", run(key).name + " against " + run(state.systems[0]).name]), state.pair);
    document.title = state.systems.map((key) => run(key).name).join(", ") + " · Goldspan";
    byId("closer").hidden = state.systems.length < 3;
  }

  function search() {
    const wanted = byId("search").value.toLowerCase();
    Array.from(byId("choices").children).forEach((item) => { item.hidden = !item.textContent.toLowerCase().includes(wanted); });
  }

  // The row of table `comparisons` of b compared with a, inverted if stored as a with b; null if there is none.
  function stored(slice, a, b) {
    const row = slice.pairs.find((one) => (one[0] === a && one[1] === b) || (one[0] === b && one[1] === a));
    if (!row) {
      return null;
    }
    const found = {};
    slice.columns.forEach((name, place) => { found[name] = row[place]; });
    if (found.a === a) {
      return found;
    }
    const other = { better: "worse", worse: "better" };
    const less = (value) => (value === null ? null : 0 - value);
    return Object.assign({}, found, {
      a: a, b: b, delta: less(found.delta), low: less(found.high), high: less(found.low), wins: found.losses, losses: found.wins,
      verdict: other[found.verdict] || found.verdict
    });
  }

  // A pair that was not tested, computed from the items, without an interval.
  function counted(slice, a, b) {
    const found = pair(board, a, b, slice);
    return { delta: found.delta, verdict: null, low: null, wins: found.wins, ties: found.ties, losses: found.losses, n_items: found.n };
  }

  function sentence(row, system, reference) {
    const text = board.sentences[row.verdict];
    if (!text) {
      return system + " against " + reference + ": " + signed(row.delta, board.digits) + ", not tested.";
    }
    const between = (low, high) => (low === null || low === undefined ? "" : " (95 % CI " + number(low, board.digits) + " to " + number(high, board.digits) + ")");
    const up = row.low === null || row.delta >= 0;
    const words = {
      system: system, reference: reference,
      least: (row.exploratory ? "(testing this pair alone) " : "") + number(row.smallest_detectable, board.digits),
      delta: signed(row.delta, board.digits) + between(row.low, row.high),
      by: number(Math.abs(row.delta), board.digits), interval: up ? between(row.low, row.high) : between(0 - row.high, 0 - row.low)
    };
    const known = row.smallest_detectable === null ? text.replace("; smallest detectable difference {least}", "") : text;
    const said = known.replace(/\{(\w+)\}/g, (_, name) => words[name]);
    const isAlone = row.verdict === board.alone.verdict && !row.exploratory && row.low !== null && (row.low > 0 || row.high < 0);
    const notes = (row.exploratory ? ["exploratory: not corrected for multiple comparisons"] : []).concat(isAlone ? [board.alone.note] : [], row.unit === "item" ? ["for these repositories only"] : []);
    return notes.length ? said.slice(0, -1) + " (" + notes.join("; ") + ")." : said;
  }

  // The table of systems: each one's number and, compared with the first, the result of the test and item counts.
  function verdicts(slice, runs) {
    const places = state.systems.map(board.place);
    const conclusions = byId("conclusions");
    conclusions.textContent = "";
    exact = [["system", "mean", "low", "high", "n"].concat(VERDICT)];
    const body = element("tbody");
    places.forEach((place, which) => {
      const mean = slice.means[place] || [null, null, null, 0];
      const row = which ? stored(slice, places[0], place) || counted(slice, runs[0], runs[which]) : null;
      if (row) {
        conclusions.appendChild(element("li", sentence(row, board.runs[place].name, board.runs[places[0]].name)));
      }
      exact.push([board.runs[place].system].concat(mean, VERDICT.map((key) => (row && row[key] !== undefined ? row[key] : null))));
      const line = body.insertRow();
      const name = line.appendChild(element("th", null, { scope: "row", class: "name" }));
      name.appendChild(element("a", board.runs[place].name, { href: board.runs[place].page, class: "to-system" }));
      name.appendChild(element("small", board.runs[place].state || board.runs[place].kind));
      const pValue = (p) => (p < 0.001 ? "<0.001" : number(p, 3));
      const between = (low, high, shape) => (low === null || low === undefined ? "–" : shape(low, 3) + " to " + shape(high, 3));
      const texts = [number(mean[0], 3), between(mean[1], mean[2], number)].concat(row
        ? [signed(row.delta, 3), between(row.low, row.high, signed), row.p === undefined ? "–" : row.p_adjusted === null ? "(" + pValue(row.p) + ")" : pValue(row.p_adjusted),
          row.verdict === board.alone.verdict ? board.alone.words : row.verdict || "–", count(row.wins), count(row.ties), count(row.losses), number(row.smallest_detectable, 3), count(row.n_items)]
        : ["compared with", "", "", "", "", "", "", "", count(mean[3])]);
      texts.forEach((text, at) => line.appendChild(element("td", text, { class: at === 5 ? "word" : "" })));
    });
    byId("verdicts").replaceChild(body, byId("verdicts").tBodies[0]);
    const all = slice.to - slice.from;
    const scored = Math.max(...places.map((place) => (slice.means[place] || [null, null, null, 0])[3]));
    const population = (scored < all ? count(scored) + " of " : "") + count(all) + " items";
    byId("numbers").firstChild.textContent = board.benchmark + ": " + board.measure + ", " + board.averaged + "; " + (board.slice === "all" ? "all " : board.slice + " " + (state.slice || board.strata[0]) + ", ") + population;
  }

  // The row of a figure for all items, with the interval of the test.
  function over(slice, key) {
    const row = stored(slice, board.place(state.systems[0]), board.place(key));
    return row && { label: "all", n: row.n_items, delta: row.delta, low: row.low, high: row.high };
  }

  function drawn(slice, runs) {
    const width = Math.max(260, byId("compared").clientWidth);
    const which = Math.max(1, state.systems.indexOf(state.pair || state.systems[1]));
    const names = { a: run(state.systems[0]).name, b: run(state.systems[which]).name, kind: run(state.systems[which]).drawn };
    byId("where-note").textContent = names.b + " minus " + names.a + ". Exploratory: the 95 % intervals are over items within a repository, and unadjusted; with fewer than " + goldspan.outcomes.FEWEST + " items there is none (open mark).";
    goldspan.figures.forests(byId("forests"), width, board, runs[0], runs[which], slice, names, over(slice, state.systems[which]));
    const found = goldspan.figures.matrix(byId("matrix"), width, board, runs, slice, state.systems.map((key) => run(key).name));
    byId("matrix-note").textContent = count(found.n_items) + " items with a value, ordered by the mean score of all systems" + (found.n_items >= 1.5 * found.n_bins ? ", about " + Math.round(found.n_items / found.n_bins) + " per column" : "") + ". Empty: 0; full: " + number(found.most, 2) + "; thin line: no value.";
    goldspan.figures.ledger(byId("ledger"), board, state.systems.map((key) => slice.ledger[board.place(key)]), state.systems.map((key) => slice.precision[board.place(key)]), state.systems.map((key) => run(key).name));
    const view = { board: board, a: runs[0], b: runs[which], slice: slice, names: names };
    goldspan.flips.show(view, { dir: state.dir, repo: state.repo, why: state.why, page: state.page }, (filters) => {
      state = Object.assign({}, state, filters);
      write();
    });
  }

  let redraw = () => undefined;

  function show() {
    const mine = ++latest;
    byId("compared").setAttribute("aria-busy", "true");
    offer();
    const place = Math.max(0, board.strata.indexOf(state.slice || board.strata[0]));
    return Promise.all([board.slice_of(place)].concat(state.systems.map(board.run))).then(([slice, ...runs]) => {
      if (mine !== latest) {
        return;
      }
      byId("compared").hidden = false;
      verdicts(slice, runs);
      redraw = () => drawn(slice, runs);
      redraw();
      byId("compared").removeAttribute("aria-busy");
    });
  }

  function start() {
    byId("compared").setAttribute("aria-busy", "true");
    return read().then((found) => {
      board = found.board;
      state = found.state;
      return show();
    }).catch((error) => {
      byId("compared").removeAttribute("aria-busy");
      byId("said").textContent = "This comparison cannot be shown: " + error.message + ".";
    });
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.protocol.addEventListener("change", () => {
    goldspan.outcomes.open(form.protocol.selectedOptions[0].dataset.name).then((one) => {
      board = one;
      change(Object.assign({ protocol: form.protocol.value, systems: one.first.slice() }, EMPTY), "Comparing under " + form.protocol.value + ".");
    });
  });
  form.slice.addEventListener("change", () => change({ slice: form.slice.value, page: 1 }, "Showing " + (form.slice.value || board.strata[0]) + "."));
  function against(key) {
    const rest = state.systems.filter((one) => one !== key);
    return change({ systems: [key].concat(rest), pair: "", dir: "", page: 1 }, "Compared with " + run(key).name + ".");
  }
  form.base.addEventListener("change", () => against(form.base.value));
  byId("swap").addEventListener("click", () => against(state.systems[1]));
  byId("choices").addEventListener("change", (event) => {
    const key = event.target.value;
    const systems = event.target.checked ? state.systems.concat(key) : state.systems.filter((one) => one !== key);
    change({ systems: systems, pair: systems.includes(state.pair) ? state.pair : "", page: 1 }, systems.length + " systems are compared.");
  });
  byId("verdicts-csv").addEventListener("click", () => goldspan.outcomes.keep("verdicts.csv", goldspan.outcomes.csv(exact), "text/csv"));
  byId("search").addEventListener("input", search);
  document.querySelector("[name=pair]").addEventListener("change", (event) => change({ pair: event.target.value, page: 1 }, "Looking at " + event.target.selectedOptions[0].textContent + "."));
  // An anchor within the page, such as the target of the link that skips to the content, is not a view.
  ["popstate", "hashchange"].forEach((name) => window.addEventListener(name, () => {
    if (!location.hash || location.hash.includes("=")) { start(); }
  }));
  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => redraw(), 150);
  });
  goldspan.stored = stored;
  start();
})();

// The leaderboard's controls. The view is stored in the address, so a copied link shows the same one; the page contains
// the opening view, and loads the numbers of other views when they are needed.
(function () {
  "use strict";
  const { load } = window.goldspan;
  const { plural, view, shown, draw, drawHeat, details, describe, columns, texts, split, dress, pick, setMore, setControls } = window.goldspan.board;
  const MOST = 300, MOST_PICKED = 6;
  const said = document.getElementById("said");
  const sections = Array.from(document.querySelectorAll("section[data-board]"));
  if (!sections.length) {
    return;
  }
  const KEYS = ["protocol", "metric", "slice", "average", "kind", "search", "baselines", "complete", "columns", "rows", "sort", "dir", "heat", "pick", "open"];
  const loaded = new Map();
  let state, drawing = Promise.resolve();

  const sectionOf = (protocol) => sections.find((one) => one.dataset.protocol === protocol);
  const section = () => sectionOf(state.protocol);
  const table = () => section().querySelector("table[data-main]");
  const controls = (name, of) => Array.from((of || section()).querySelectorAll('[data-control="' + name + '"]'));

  function defaults(protocol) {
    const of = sectionOf(protocol), heat = of.querySelector('[data-control="heat"]');
    const first = Object.fromEntries(KEYS.map((key) => [key, ""]));
    return Object.assign(first, { protocol, metric: of.dataset.metric, slice: of.dataset.slice, average: of.dataset.average, heat: heat ? heat.options[0].value : "" });
  }

  function options(name) {
    return controls(name).flatMap((one) => (one.options ? Array.from(one.options) : [one])).map((one) => one.value);
  }

  // Reads the state from the address; unknown values are ignored.
  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    const protocol = sectionOf(given.get("protocol")) ? given.get("protocol") : sections[0].dataset.protocol;
    state = defaults(protocol);
    const metrics = options("columns").slice(1), sorts = ["rank", "system", "delta", "oracle", "n", "read", ...metrics];
    const known = {
      metric: (value) => metrics.includes(value), slice: (value) => options("slice").includes(value), average: (value) => options("average").includes(value),
      kind: (value) => options("kind").includes(value), search: (value) => value.length <= 60, baselines: (value) => value === "rows", complete: (value) => value === "only",
      columns: (value) => value.split(",").every((one) => one === "all" || metrics.includes(one)), rows: (value) => value === "all",
      sort: (value) => sorts.includes(value), dir: (value) => value === "ascending" || value === "descending", heat: (value) => options("heat").includes(value),
      pick: (value) => /^[\w.,-]+$/.test(value), open: (value) => /^[\w.-]+$/.test(value)
    };
    Object.keys(known).forEach((key) => {
      if (given.get(key) && known[key](given.get(key))) {
        state[key] = given.get(key);
      }
    });
  }

  function write() {
    const usual = defaults(state.protocol), kept = new URLSearchParams();
    KEYS.forEach((key) => {
      if (state[key] && (key === "protocol" ? state.protocol !== sections[0].dataset.protocol : state[key] !== usual[key])) {
        kept.set(key, state[key]);
      }
    });
    const text = () => kept.toString().replace(/%40/g, "@").replace(/%3D/g, "=").replace(/%2F/g, "/").replace(/%2C/g, ",");
    if (text().length > MOST && kept.has("columns")) {
      kept.set("columns", state.columns = "all");
    }
    ["pick", "open", "search"].forEach((key) => text().length > MOST && kept.delete(key));
    const hash = text() ? "#" + text() : "";
    if (hash !== location.hash) {
      history.pushState(null, "", hash || location.pathname + location.search);
    }
  }

  function needed(board) {
    const primary = board.columns[0], all = state.columns === "all" ? board.columns.map((one) => one.name) : state.columns.split(",");
    const names = new Set([primary.name, state.metric, ...all, ...(board.columns.some((one) => one.name === state.sort) ? [state.sort] : [])]);
    return board.columns.filter((one) => names.has(one.name));
  }

  // Loads the board's data and the measures that a view needs.
  function data() {
    const path = section().dataset.board;
    const own = loaded.get(path) || { files: {} };
    loaded.set(path, own);
    return Promise.all([load(path + ".js", path), load(path + "/costs.js", path + "/costs")]).then(([board, costs]) => {
      own.board = board;
      own.costs = costs;
      return Promise.all(needed(board).map((one) => load(one.path + ".js", one.path).then((file) => { own.files[one.name] = file; }))).then(() => own);
    });
  }

  function isAsTheTemplateHasIt() {
    const usual = defaults(state.protocol);
    return !section().dataset.drawn && KEYS.every((key) => state[key] === usual[key]);
  }

  function first(key) {
    const lower = section().dataset.better === "lower" && key === state.metric;
    return lower || key === "rank" || key === "system" ? "ascending" : "descending";
  }

  // Whether the rows in the table only need another order.
  function isReordered(own) {
    const has = own && own.found && section().dataset.drawn && !section().hidden && !state.open;
    return has && KEYS.every((key) => key === "sort" || key === "dir" || own.state[key] === state[key]) &&
      own.parts[0].lines.length + own.parts[2].lines.length === own.found.nSystems &&
      (!state.sort || columns(own.found).some((one) => one[0] === state.sort));
  }

  function reorder(own) {
    const { found } = own, by = state.sort || found.column.name, parts = shown(found, state, first(state.sort));
    const direction = state.sort ? state.dir || first(by) : found.isLowerBetter ? "ascending" : "descending";
    const rows = new Map(Array.from(table().querySelectorAll("tr[data-run]"), (row) => [row.dataset.run, row]));
    parts.filter((part, place) => place === 0 || part.lines.length)
      .forEach((part, place) => table().tBodies[place].append(...part.lines.map((line) => rows.get(line.system.key))));
    table().tHead.querySelectorAll("th[data-key]").forEach((head) => {
      head.toggleAttribute("aria-sort", head.dataset.key === by);
      if (head.dataset.key === by) {
        head.setAttribute("aria-sort", direction);
      }
    });
    if (own.heatRows) {
      section().querySelector("table[data-heat]").tBodies[0].append(...parts[0].lines.map((line) => own.heatRows.get(line.run)));
    }
    Object.assign(own, { parts, state });
  }

  // Shows the state: the section, the controls, and the table unless it is already in the page.
  function show() {
    const before = loaded.get(section().dataset.board);
    if (isReordered(before)) {
      reorder(before);
      return Promise.resolve();
    }
    sections.forEach((one) => { one.hidden = one !== section(); });
    setControls(section(), state, options("columns").slice(1));
    if (isAsTheTemplateHasIt()) {
      dress(section(), state.pick);
      return Promise.resolve();
    }
    section().setAttribute("aria-busy", "true");
    const at = state;
    drawing = data().then((own) => {
      if (at !== state) {
        return;
      }
      section().dataset.drawn = "true";
      const found = view(own.board, state, own.files, own.costs);
      const fits = columns(found).some((one) => one[0] === state.sort), by = fits ? state.sort : "";
      const direction = by ? state.dir || first(by) : found.isLowerBetter ? "ascending" : "descending";
      const parts = shown(found, { ...state, sort: by }, first(by));
      Object.assign(own, { found, parts, state });
      draw(table(), found, parts, state, by || found.column.name, direction);
      table().parentElement.classList.toggle("wide", found.further.length > 0);
      describe(section(), found);
      const heat = section().querySelector("table[data-heat]");
      if (heat) {
        section().querySelector("[data-heat-title]").textContent = drawHeat(heat, found, own.files, { ...state, heat: state.heat || section().dataset.heat }, parts[0].lines);
        const rows = heat.tBodies[0].rows;
        if (state.heat && state.heat !== section().dataset.heat) heat.closest("details").open = true;
        own.heatRows = new Map(parts[0].lines.map((line, place) => [line.run, rows[place]]));
      }
      setMore(section(), found, parts, state);
      dress(section(), state.pick);
      open(own);
    }).catch(() => { said.textContent = "The numbers of this view could not be loaded."; })
      .then(() => section().removeAttribute("aria-busy"));
    return drawing;
  }

  function open(own) {
    const row = state.open && table().querySelector('tr[data-run="' + state.open + '"]');
    if (row) {
      const line = own.parts.flatMap((part) => part.lines).find((one) => own.board.runs[one.run].key === state.open);
      row.after(details(own.found, own.files, own.costs, line, state));
      row.querySelector("button.open").setAttribute("aria-expanded", "true");
    }
  }

  // The metric's column at the given cut-off, or at its first if it does not have that one.
  function metricAt(metric, cut) {
    const names = options("columns").slice(1).filter((one) => split(one)[0] === metric);
    return names.find((one) => split(one)[1] === cut) || names[0];
  }

  function change(next) {
    state = { ...state, ...next };
    write();
    return show();
  }

  function tell(words) {
    const n = () => table().querySelectorAll("tr[data-run]").length;
    return () => { said.textContent = words || "Showing " + plural(n(), "system") + ": " + table().caption.textContent.replace(/\s+/g, " ").trim() + "."; };
  }

  function changed(control) {
    const name = control.dataset.control, value = control.type === "checkbox" && !control.checked ? "" : control.value;
    const [metric, cut] = split(state.metric);
    if (name === "protocol") {
      state = defaults(value);
      write();
      return show().then(() => controls("protocol")[0].focus());
    }
    if (name === "quantity") {
      return change({ metric: metricAt(value, cut), sort: "", dir: "" });
    }
    if (name === "cut") {
      return change({ metric: metricAt(metric, value), sort: "", dir: "" });
    }
    if (name === "level") {
      const select = controls("quantity")[0], now = select.selectedOptions[0].dataset.quantity;
      const of = Array.from(select.options).filter((one) => one.dataset.level === value);
      return change({ metric: metricAt((of.find((one) => one.dataset.quantity === now) || of[0]).value, cut), sort: "", dir: "" });
    }
    if (name === "columns") {
      const chosen = control.value === "all" ? (control.checked ? ["all"] : []) : controls("columns").filter((one) => one.checked && one.value !== "all").map((one) => one.value);
      return change({ columns: chosen.join(",") });
    }
    return change({ [name]: value });
  }

  function copied(button) {
    const [name, text] = texts[button.dataset.copy], most = Number(button.dataset.rows) || Infinity;
    data().then((own) => {
      const found = view(own.board, state, own.files, own.costs), parts = shown(found, state, first(state.sort));
      const lines = most === Infinity ? parts.flatMap((part) => part.lines) : parts[0].lines.slice(0, most);
      const title = table().caption.textContent.replace(/\s+/g, " ").trim();
      return new Promise((done) => window.goldspan.copy(text(found, lines, title), done));
    }).then((worked) => { said.textContent = worked ? "Copied this view as " + name + "." : "The browser does not let pages copy here."; });
  }

  document.addEventListener("change", (event) => {
    const control = event.target;
    if (control.dataset.control && control.type !== "search") {
      changed(control).then(tell());
    } else if (control.closest("td.picker")) {
      const picked = (state.pick ? state.pick.split(",") : []).filter((one) => one !== control.value);
      if (control.checked && picked.length >= MOST_PICKED) {
        control.checked = false;
        said.textContent = "No more than " + MOST_PICKED + " systems can be compared at once.";
        return;
      }
      state = { ...state, pick: picked.concat(control.checked ? control.value : []).join(",") };
      write();
      pick(section(), state.pick);
      said.textContent = section().querySelector(".picks").textContent.trim();
    }
  });
  let typing = 0;
  document.addEventListener("input", (event) => {
    if (event.target.type === "search") {
      clearTimeout(typing);
      typing = setTimeout(() => change({ search: event.target.value }).then(tell()), 200);
    }
  });
  // An open menu covers the table: it closes by Escape, and by a click elsewhere.
  const menus = () => section().querySelectorAll(".menu[open]");
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      menus().forEach((menu) => { menu.open = false; menu.firstElementChild.focus(); });
    }
  });
  document.addEventListener("click", (event) => {
    menus().forEach((menu) => { menu.open = menu.contains(event.target); });
    const button = event.target.closest("button");
    if (!button) {
      return;
    }
    if (button.dataset.copy) {
      copied(button);
    } else if (button.matches(".fold")) {
      button.setAttribute("aria-expanded", String(button.form.classList.toggle("whole")));
    } else if (button.matches("[data-more]")) {
      change({ rows: state.rows ? "" : "all" }).then(tell(state.rows ? "Showing all systems." : "Showing the first 15 systems."));
    } else if (button.matches(".open")) {
      const key = button.closest("tr").dataset.run;
      change({ open: state.open === key ? "" : key }).then(() => {
        const again = table().querySelector('tr[data-run="' + key + '"] button.open');
        again.focus();
        said.textContent = again.getAttribute("aria-label") + (state.open ? " shown." : " hidden.");
      });
    } else if (button.closest("th[data-key]")) {
      const head = button.closest("th"), key = head.dataset.key, before = head.getAttribute("aria-sort");
      const dir = before ? (before === "ascending" ? "descending" : "ascending") : first(key);
      change({ sort: key, dir: dir === first(key) ? "" : dir }).then(() => {
        table().querySelector('th[data-key="' + CSS.escape(key) + '"] button').focus();
        said.textContent = "Sorted by " + button.textContent.trim() + ", " + dir + ".";
      });
    }
  });
  window.addEventListener("popstate", () => { read(); show().then(tell()); });
  window.addEventListener("hashchange", () => { read(); show(); });
  document.querySelectorAll("form.controls").forEach((one) => one.addEventListener("submit", (event) => event.preventDefault()));

  read();
  show();
})();

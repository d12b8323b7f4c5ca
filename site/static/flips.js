// The items on which two systems differ, the largest difference first: in pages, filtered by direction, repository and
// ledger class; saved as a file; with keys j and k to go through them.
(function () {
  "use strict";
  const PER_PAGE = 50;
  const { element, number, signed, count, visible, csv, keep } = goldspan.outcomes;
  const byId = (id) => document.getElementById(id);

  // The positions of these items, by difference, then in the items' order. Both are put into one number, because sorting
  // plain numbers takes a tenth of the time of sorting with a comparison function.
  function differing(a, b, slice) {
    const n = slice.to - slice.from;
    const keys = new Float64Array(n);
    let found = 0;
    let most = 0;
    for (let i = slice.from; i < slice.to; i++) { most = Math.max(most, Math.abs(b.value[i] - a.value[i]) || 0); }
    for (let i = slice.from; i < slice.to; i++) {
      const apart = Math.abs(b.value[i] - a.value[i]);
      if (apart > 0) { keys[found++] = Math.round((1 - apart / most) * 1e8) * 4194304 + (i - slice.from); }
    }
    const sorted = keys.subarray(0, found).sort();
    return Uint32Array.from(sorted, (key) => slice.from + key % 4194304);
  }

  // The data of the list for a pair of runs.
  function listing(view) {
    const { board, a, b } = view;
    const all = differing(a, b, view.slice);
    const isBetter = (i) => (b.value[i] - a.value[i]) * (board.sign || 1) > 0;
    const reason = (run, i) => (run.why && run.why[i] ? board.classes[run.why[i] - 1] : null);
    // The class of most of its gold, and the gold lines found of all, with the lines returned: returning all finds all.
    const outcome = (run, i) => {
      const one = reason(run, i);
      const counted = one && run.returned && run.returned[i] > 0;
      return (one ? one[1] : "–") + (counted ? ": " + number(run.found[i], 0) + " of " + number(board.gold[i], 0) + " gold lines among " + number(run.returned[i], 0) : "");
    };
    return {
      all: all,
      isBetter: isBetter,
      reason: reason,
      // The ledger class of the worse of the two.
      of: (i) => reason(isBetter(i) ? a : b, i),
      kept: (filters) => {
        const repo = filters.repo ? board.repos.indexOf(filters.repo) : -1;
        return all.filter((i) => (!filters.dir || (filters.dir === "better") === isBetter(i)) &&
          (repo < 0 || board.repo[i] === repo) &&
          (!filters.why || (shown.listing.of(i) || [""])[0] === filters.why));
      },
      row: (i) => {
        return { id: board.id(i), repo: board.repos[board.repo[i]], language: board.languages[board.language[i]], a: a.value[i], b: b.value[i], why: [outcome(a, i), outcome(b, i)] };
      }
    };
  }

  const shown = { view: null, listing: null, kept: null, at: -1, changed: null };

  // The address of the item with both systems, the worse first, because the item's page explains the first.
  function address(view, i, id) {
    const both = shown.listing.isBetter(i) ? [view.a, view.b] : [view.b, view.a];
    const name = encodeURIComponent(id).replace(/%2F/g, "/").replace(/%40/g, "@").replace(/%3A/g, ":");
    return view.board.items + "#item=" + name + "&systems=" + both.map((run) => run.key).join(",");
  }

  function options(select, pairs, value) {
    select.textContent = "";
    pairs.forEach(([key, text]) => select.appendChild(element("option", text, { value: key })));
    select.value = value;
    return select.value === value ? value : "";
  }

  function tally(all, of) {
    const counts = new Map();
    all.forEach((i) => counts.set(of(i), (counts.get(of(i)) || 0) + 1));
    return counts;
  }

  function offer(view, filters) {
    const { board, names } = view;
    const all = shown.listing.all;
    const better = all.reduce((n, i) => n + shown.listing.isBetter(i), 0);
    options(byId("flips").querySelector("[name=dir]"), [["", "either (" + count(all.length) + ")"], ["better", names.b + " (" + count(better) + ")"], ["worse", names.a + " (" + count(all.length - better) + ")"]], filters.dir);
    const repos = Array.from(tally(all, (i) => board.repo[i])).sort((one, other) => other[1] - one[1] || one[0] - other[0]);
    options(byId("flips").querySelector("[name=repo]"), [["", "all"]].concat(repos.map(([place, n]) => [board.repos[place], visible(board.repos[place]) + " (" + count(n) + ")"])), filters.repo);
    const why = tally(all, (i) => (shown.listing.of(i) || [""])[0]);
    options(byId("flips").querySelector("[name=why]"), [["", "any"]].concat(board.classes.filter(([name]) => why.has(name)).map(([name, title]) => [name, title + " (" + count(why.get(name)) + ")"])), filters.why);
  }

  function pages() {
    return Math.max(1, Math.ceil(shown.kept.length / PER_PAGE));
  }

  function draw(filters) {
    const { view } = shown;
    const page = Math.min(Math.max(filters.page, 1), pages());
    const table = byId("flips-table");
    const head = table.tHead.rows[0];
    head.textContent = "";
    [["Item", "name"], ["Repository", "word"], [view.names.a, ""], [view.names.b, ""], ["Difference", ""], ["Most of its gold, " + view.names.a, "word"], [view.names.b, "word"]].forEach(([text, kind]) => head.appendChild(element("th", text, { scope: "col", class: kind + " wrap" })));
    const body = element("tbody");
    shown.kept.slice((page - 1) * PER_PAGE, page * PER_PAGE).forEach((i) => {
      const one = shown.listing.row(i);
      const line = body.insertRow();
      const name = line.appendChild(element("th", null, { scope: "row", class: "name" }));
      name.appendChild(element("a", visible(one.id), { href: address(view, i, one.id) }));
      line.appendChild(element("td", visible(one.repo), { class: "word wrap" }));
      [number(one.a, 3), number(one.b, 3), signed(one.b - one.a, 3)].forEach((text) => line.appendChild(element("td", text)));
      one.why.forEach((text) => line.appendChild(element("td", text, { class: "word wrap" })));
    });
    table.replaceChild(body, table.tBodies[0]);
    shown.at = -1;
    table.caption.firstChild.textContent = count(shown.kept.length) + " of " + count(view.slice.to - view.slice.from) + " items, the largest difference first; “most of its gold”: what happened to it in that system, followed, if lines are counted, by the gold lines found and all lines returned";
    byId("flips-page").textContent = "page " + count(page) + " of " + count(pages());
    byId("flips").querySelectorAll("[data-step]").forEach((button) => { button.disabled = page + Number(button.dataset.step) < 1 || page + Number(button.dataset.step) > pages(); });
    shown.filters = Object.assign({}, filters, { page: page });
  }

  // Lists a pair of runs; `changed` is called with the user's changes.
  function show(view, filters, changed) {
    if (!shown.view || shown.view.a !== view.a || shown.view.b !== view.b || shown.view.slice !== view.slice) {
      shown.listing = listing(view);
    }
    shown.view = view;
    shown.changed = changed;
    offer(view, filters);
    shown.kept = shown.listing.kept(filters);
    draw(filters);
  }

  function change(part) {
    const filters = Object.assign({}, shown.filters, part);
    if (!("page" in part)) {
      filters.page = 1;
      shown.kept = shown.listing.kept(filters);
    }
    draw(filters);
    byId("flips-said").textContent = count(shown.kept.length) + " items, page " + count(shown.filters.page) + " of " + count(pages()) + ".";
    shown.changed(shown.filters);
  }

  function walk(step) {
    const rows = () => byId("flips-table").tBodies[0].rows;
    let at = shown.at + step;
    if (at >= rows().length && shown.filters.page < pages()) {
      change({ page: shown.filters.page + 1 });
      at = 0;
    } else if (at < 0 && shown.filters.page > 1) {
      change({ page: shown.filters.page - 1 });
      at = rows().length - 1;
    }
    at = Math.min(Math.max(at, 0), rows().length - 1);
    Array.from(rows()).forEach((row, place) => (place === at ? row.setAttribute("aria-current", "true") : row.removeAttribute("aria-current")));
    shown.at = at;
    if (at >= 0) { rows()[at].querySelector("a").focus(); }
  }

  function file() {
    const { board, names } = shown.view;
    const rows = Array.from(shown.kept, (i) => {
      const one = shown.listing.row(i);
      return [one.id, one.repo, one.language, one.a, one.b, one.b - one.a].concat(one.why);
    });
    keep("flips.csv", csv([["item_id", "repo", "language", names.a, names.b, "difference (" + board.measure + ")", "most gold, " + names.a, "most gold, " + names.b]].concat(rows)), "text/csv");
  }

  const home = byId("flips");
  if (home) {
    home.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
    home.querySelector("form").addEventListener("change", (event) => change({ [event.target.name]: event.target.value }));
    byId("flips-csv").addEventListener("click", file);
    home.querySelectorAll("[data-step]").forEach((button) => button.addEventListener("click", () => change({ page: shown.filters.page + Number(button.dataset.step) })));
    document.addEventListener("keydown", (event) => {
      const busy = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.altKey || event.metaKey;
      if (!busy && shown.view && (event.key === "j" || event.key === "k")) {
        walk(event.key === "j" ? 1 : -1);
        event.preventDefault();
      }
    });
  }

  goldspan.flips = { show: show, differing: differing };
})();

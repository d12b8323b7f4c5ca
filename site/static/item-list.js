// The list of a benchmark's items, with filters and pages. Loaded on demand.
(function () {
  "use strict";
  const {element} = goldspan.strips;
  const PAGE = 50, UNSCORABLE = "unscorable";
  let view = null, listed = null;

  // The number of the run in the ledger filter; the default run if there is none.
  function ledgerRun() {
    const named = view.about.runs.findIndex(run => run.key === view.state.ledger.split("/")[0]);
    return named < 0 ? view.about.first : named;
  }

  function ledgerClass() {
    const given = view.state.ledger.split("/")[1] || view.state.class;
    return given === UNSCORABLE || Object.keys(view.about.classes).includes(given) ? given : "";
  }

  // The columns of the list, loaded once, with each item's ledger class for the run of the filter.
  function list() {
    listed = listed || view.data("list").then(text => text ? goldspan.parse(text) : Promise.reject(new Error("no list"))).then(
      columns => Object.assign(columns, {repos: [...new Set(columns.repo)].sort(), languages: [...new Set(columns.language)].sort()}));
    const run = ledgerRun();
    const classes = view.about.runs.length ? view.data("class-" + run).then(goldspan.parse) : Promise.resolve({classes: ""});
    return Promise.all([listed, classes]).then(([columns, found]) => Object.assign({}, columns, found));
  }

  // The positions in the list that pass the filters, in the chosen order.
  function filtered(columns) {
    const q = view.state.q.toLowerCase(), wanted = ledgerClass(), names = Object.keys(view.about.classes);
    const code = wanted && wanted !== UNSCORABLE ? String(names.indexOf(wanted)) : "";
    const known = (values, value) => values.includes(value) ? value : "", places = [];
    const repo = known(columns.repos, view.state.repo), language = known(columns.languages, view.state.language);
    for (let at = 0; at < columns.id.length; at += 1) {
      if ((wanted === UNSCORABLE) !== Boolean(columns.scorable[at]) && (!repo || columns.repo[at] === repo) &&
          (!language || columns.language[at] === language) && (!code || columns.classes[at] === code) &&
          (!q || columns.id[at].toLowerCase().includes(q))) {
        places.push(at);
      }
    }
    const sign = {hardest: 1, easiest: -1}[view.state.order];
    return sign ? places.sort((a, b) => sign * (columns.solved[a] - columns.solved[b]) || a - b) : places;
  }

  function select(label, name, options, value, change) {
    const pick = element("select", {id: "f-" + name}, ...options.map(([given, text]) => element("option", {value: given}, text)));
    pick.value = value;
    pick.addEventListener("change", () => view.go(Object.assign({page: ""}, change ? change(pick.value) : {[name]: pick.value})).then(() => document.getElementById("f-" + name).focus()));
    return element("label", {}, label + " ", pick);
  }

  function filters(columns) {
    const box = document.getElementById("filters"), search = element("input", {type: "search", id: "f-q", "aria-label": "Search item names", placeholder: "part of an item's name"});
    search.value = view.state.q;
    search.addEventListener("change", () => view.go({q: search.value.slice(0, 100), page: ""}).then(() => document.getElementById("f-q").focus()));
    const any = (word, values) => [["", word]].concat(values.map(value => [value, value]));
    const runs = view.about.runs.map(run => [run.key, run.title]), run = view.about.runs[ledgerRun()], wanted = ledgerClass();
    const classes = [["", "any"]].concat(Object.entries(view.about.classes), [[UNSCORABLE, "cannot be scored"]]);
    const ofRun = (which, name) => ({ledger: which === view.about.runs[view.about.first].key && !name ? "" : which + "/" + name, class: ""});
    box.replaceChildren(search,
      select("Repository", "repo", any("all", columns.repos), columns.repos.includes(view.state.repo) ? view.state.repo : ""),
      ...(columns.languages.length > 1 ? [select("Language", "language", any("all", columns.languages), columns.languages.includes(view.state.language) ? view.state.language : "")] : []),
      ...(run ? [select("Most of the gold of", "run", runs, run.key, value => ofRun(value, wanted)),
        select("is", "class", classes, wanted, value => ofRun(run.key, value))] : []),
      select("Order", "order", [["", "by name"], ["hardest", "fewest systems found it"], ["easiest", "most systems found it"]], ["hardest", "easiest"].includes(view.state.order) ? view.state.order : ""));
  }

  function showList(columns) {
    const places = filtered(columns), nPages = Math.max(1, Math.ceil(places.length / PAGE));
    const page = Math.min(Math.max(1, parseInt(view.state.page, 10) || 1), nPages), names = Object.values(view.about.classes), run = view.about.runs[ledgerRun()];
    filters(columns);
    const heads = ["Item", "Repository", "Language", "Gold " + view.about.kind, run ? "Most of it, " + run.title : "Most of it", "Systems that found most"];
    const table = document.querySelector("table.items"), body = element("tbody");
    const word = place => [1, 2, 4].includes(place) ? {class: "word"} : {};
    places.slice((page - 1) * PAGE, page * PAGE).forEach(at => {
      const gold = columns.gold[at] === null ? "–" : columns.gold[at].toLocaleString("en");
      const texts = [columns.repo[at], columns.language[at], gold, names[columns.classes[at]] || "–", String(columns.solved[at])];
      const link = element("a", {href: view.address({item: columns.id[at], step: "", replay: ""})}, ...goldspan.breakable(columns.id[at]));
      body.append(element("tr", {}, element("th", {scope: "row", class: "name"}, link), ...texts.map((text, place) => element("td", word(place + 1), text))));
    });
    if (!places.length) {
      body.append(element("tr", {}, element("td", {class: "word", colspan: "6"}, "No item fits all of these filters: choose “any” or “all” in one of them.")));
    }
    table.tHead.replaceChildren(element("tr", {}, ...heads.map((text, place) => element("th", {scope: "col", class: place ? "" : "name", ...word(place)}, text))));
    table.tBodies[0].replaceWith(body);
    const total = columns.scorable.filter(Boolean).length;
    const told = goldspan.item.plural(places.length, "item") + (places.length === total ? "" : " of " + total.toLocaleString("en")) + (nPages > 1 ? ", page " + page + " of " + nPages : "");
    table.caption.replaceChildren(element("span", {}, told));
    document.getElementById("said").textContent = told + " listed.";
    pager(page, nPages);
    view.open(null, "");
  }

  function pager(page, nPages) {
    const box = document.getElementById("pages"), step = (text, to) => {
      const button = element("button", {type: "button"}, text);
      button.disabled = to < 1 || to > nPages;
      button.addEventListener("click", () => view.go({page: to > 1 ? String(to) : ""}).then(() => document.getElementById("list").focus()));
      return button;
    };
    box.hidden = nPages < 2;
    box.replaceChildren(step("‹ earlier", page - 1), " page " + page + " of " + nPages + " ", step("later ›", page + 1));
  }

  // Called once with the view: the address's state, the benchmark, and functions to go elsewhere.
  goldspan.give("item-list", function (given) {
    view = given;
    return {list, filtered, showList};
  });
})();

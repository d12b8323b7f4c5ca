// A benchmark's items: the list with its filters, and one item. The state is stored in the address after `#`.
(function () {
  "use strict";
  const {element, byFile} = goldspan.strips;
  const root = document.getElementById("items"), one = document.getElementById("one"), all = document.getElementById("all");
  const folder = root.dataset.folder, key = root.dataset.key;
  const usual = {item: "", systems: "", replay: "", step: "", q: "", repo: "", language: "", ledger: "", class: "", order: "", page: ""};
  const title = document.title;
  let about = null, replay = null, drawn = "", state = null;
  // The view given to the list's script, which is loaded on demand.
  const view = {about: null, state: null, data, address, go, open};

  function data(name) {
    return goldspan.load(folder + "/" + name + ".js", key + "/" + name);
  }

  function read() {
    const given = new URLSearchParams(location.hash.slice(1)), found = {};
    Object.keys(usual).forEach(name => { found[name] = given.get(name) || ""; });
    state = view.state = found;
  }

  function address(change) {
    const next = Object.assign({}, state, change), parts = Object.keys(usual).filter(name => next[name]);
    const quoted = value => encodeURIComponent(value).replace(/%2F/g, "/").replace(/%2C/g, ",").replace(/%40/g, "@").replace(/%3A/g, ":");
    return parts.length ? "#" + parts.map(name => name + "=" + quoted(next[name])).join("&") : location.pathname.split("/").pop() || "#";
  }

  // Applies a change; the browser's back button undoes it.
  function go(change) {
    history.pushState(null, "", address(change));
    read();
    return show();
  }

  // Shows one of the two parts of the page: an item (`parts`) or the list.
  function open(parts, name) {
    if (parts) {
      one.replaceChildren(...parts);
    }
    one.hidden = !parts;
    all.hidden = Boolean(parts);
    document.title = (name ? goldspan.visible(name) + " · " : "") + title;
  }

  function listing() {
    return goldspan.load("../static/item-list.js", "item-list").then(made => made(view));
  }

  function shownRuns() {
    const keys = state.systems.split(",").filter(Boolean);
    const chosen = keys.map(each => about.runs.findIndex(run => run.key === each)).filter(run => run >= 0);
    return chosen.length ? Array.from(new Set(chosen)) : about.usual;
  }

  // The number of the shard with an item: the last one whose first id is not greater.
  function shardOf(id, firsts) {
    let low = 0, high = firsts.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (firsts[middle] <= id) { low = middle; } else { high = middle; }
    }
    return low;
  }

  // An item with its position among the scorable ones, and the ids before and after it there.
  function record(id) {
    return data(shardOf(id, about.shards)).then(text => text ? goldspan.parse(text) : {rows: []}).then(shard => {
      const rows = shard.rows, place = rows.findIndex(row => row.item_id === id);
      if (place < 0) {
        return null;
      }
      const counted = rows.filter(row => row.why_not === undefined), at = counted.indexOf(rows[place]);
      const lower = rows.slice(0, place).filter(row => row.why_not === undefined).pop(), upper = rows.slice(place + 1).find(row => row.why_not === undefined);
      return Object.assign({ledger: [], gold: [], run: [], answer: [], steps: [], files: [], lengths: [], own: []}, rows[place],
        {at: at < 0 ? null : shard.at + at + 1, before: lower ? lower.item_id : shard.before, behind: upper ? upper.item_id : shard.behind});
    });
  }

  // The ids before and after an item: in the list if it is filtered, else among all items.
  function neighbours(item) {
    if (!["q", "repo", "language", "ledger", "class", "order"].some(name => state[name])) {
      return Promise.resolve({before: item.before, behind: item.behind, told: item.at === null ? "" : item.at.toLocaleString("en") + " of " + goldspan.item.plural(about.items, "item")});
    }
    return listing().then(made => made.list().then(columns => [columns, made.filtered(columns)])).then(([columns, places]) => {
      const at = places.findIndex(place => columns.id[place] === item.item_id);
      const id = place => places[place] === undefined ? null : columns.id[places[place]];
      return {before: at < 0 ? item.before : id(at - 1), behind: at < 0 ? item.behind : id(at + 1), told: at < 0 ? "" : (at + 1).toLocaleString("en") + " of " + goldspan.item.plural(places.length, "listed item")};
    });
  }

  function walker(near) {
    const step = (id, text, to, label) => {
      const button = element("button", {type: "button", id: id, title: label}, text);
      button.disabled = !to;
      button.addEventListener("click", () => go({item: to, step: "", replay: ""}));
      return button;
    };
    const up = element("button", {type: "button", id: "up"}, "List");
    up.addEventListener("click", () => go({item: "", step: "", replay: ""}));
    return element("div", {class: "walk"}, step("before", "‹ k", near.before, "The item before"), element("span", {}, near.told), step("behind", "j ›", near.behind, "The item behind"), up);
  }

  function systems(shown) {
    const boxes = about.runs.map((run, place) => {
      const input = element("input", {type: "checkbox"});
      input.checked = shown.includes(place);
      input.addEventListener("change", () => {
        const next = input.checked ? shown.concat(place) : shown.filter(each => each !== place);
        const isUsual = next.length === about.usual.length && next.every(each => about.usual.includes(each));
        go({systems: isUsual ? "" : next.map(each => about.runs[each].key).join(","), replay: "", step: ""}).then(() => {
          document.getElementById("shown").open = true;
          document.querySelectorAll("#shown input")[place].focus();
        });
      });
      return element("label", {}, input, element("span", {}, run.title));
    });
    return element("details", {class: "shown", id: "shown"}, element("summary", {}, "Systems shown: " + shown.length + " of " + about.runs.length),
      element("div", {class: "controls"}, ...boxes));
  }

  function showItem(item, near) {
    const shown = shownRuns(), isNew = drawn !== item.item_id;
    drawn = item.item_id;
    const name = element("h1", {class: "tight", id: "one-name", tabindex: "-1"}, ...goldspan.breakable(item.item_id));
    const parts = [element("div", {class: "item-head"}, name, walker(near)), goldspan.item.facts(about, item)], asked = element("div", {id: "question"});
    if (about.kind === "lines" && item.why_not === undefined) {
      item.goldByFile = byFile(item.gold, item.files.length).map(ranges => ranges.filter(each => each[0] < each[1]));
      const agents = shown.filter(run => goldspan.item.stepsOf(item, run).length), named = agents.find(run => about.runs[run].key === state.replay);
      const run = named === undefined ? agents[0] : named;
      item.replay = run === undefined ? null : replay(about, item, run, parseInt(state.step, 10));
      parts.push(...goldspan.item.body(about, item, shown));
      if (item.replay) {
        const to = step => replayTo(item, shown, step);
        parts.splice(3, 0, item.replay.slider(agents, to, which => go({replay: which === agents[0] ? "" : about.runs[which].key, step: ""})));
        parts.push(item.replay.list(to));
      }
    } else {
      parts.push(...goldspan.item.body(about, item, shown));
    }
    const place = element("div", {id: "text"});
    parts.splice(2, 0, asked);
    parts.push(place, systems(shown), element("p", {class: "note"}, about.protocol + " · " + about.metric + (about.kind === "lines" ? ": drawn and computed from the stored gold and answers." : ": ranks as they are stored.")));
    text(item, asked, place);
    const focused = document.activeElement && document.activeElement.id;
    open(parts, item.item_id);
    if (isNew) {
      name.focus({preventScroll: false});
    } else if (focused && document.getElementById(focused)) {
      document.getElementById(focused).focus();
    }
  }

  // The item as text, or how to see it. The script for it is loaded on demand.
  function text(item, asked, place) {
    if (item.why_not !== undefined) {
      return;
    }
    const shown = item.has_text ? data("text/" + shardOf(item.item_id, about.texts)).then(goldspan.parse) : Promise.resolve({rows: []});
    Promise.all([shown, goldspan.load("../static/item-text.js", "item-text")]).then(([shard, show]) => {
      const found = shard.rows.find(row => row.item_id === item.item_id);
      asked.replaceChildren(...(found ? show.question(about, found) : []));
      place.replaceChildren(...(found ? show.text(about, item, found, shownRuns()) : show.without(about, item)));
      // Scroll to the end of a prompt, which is to be completed, and to the gold, which is seldom on the first lines.
      const prompt = asked.querySelector("pre");
      if (prompt && item.target_path) {
        prompt.scrollTop = prompt.scrollHeight;
      }
      place.querySelectorAll(".scroll").forEach(region => {
        const gold = region.querySelector(".gold-line");
        region.scrollTop = gold && gold.offsetTop > region.clientHeight / 2 ? gold.offsetTop - region.clientHeight / 4 : 0;
      });
    });
  }

  // Goes to another step of the replay. Only the changed parts are drawn again, so that the slider can be dragged on.
  // The steps are too many to be entries of the browser's history.
  function replayTo(item, shown, step) {
    history.replaceState(null, "", address({step: step === item.replay.n ? "" : String(step)}));
    read();
    const inList = document.activeElement.closest(".steps");
    item.replay = replay(about, item, item.replay.run, step);
    const fresh = goldspan.item.strips(about, item, shown).filter(Boolean);
    one.querySelectorAll("figure.strips").forEach((old, place) => old.replaceWith(fresh[place]));
    one.querySelector(".steps").replaceWith(item.replay.list(next => replayTo(item, shown, next)));
    item.replay.tell(document.getElementById("step"), one.querySelector("output"));
    if (inList) {
      one.querySelector(".steps [aria-pressed=true]").focus();
    }
  }

  function missing(id) {
    const made = element("p", {class: "verdict"}, "There is no item " + id + " here.");
    open([element("h1", {class: "tight", id: "one-name"}, "No such item"), made, walker({before: null, behind: null, told: ""})], id);
  }

  function show() {
    if (!state.item) {
      drawn = "";
      return listing().then(made => made.list().then(made.showList));
    }
    const id = state.item, hasSteps = about.runs.some(run => run.steps);
    return Promise.all([record(id), hasSteps ? goldspan.load("../static/replay.js", "replay") : null]).then(found => {
      replay = found[1];
      return found[0];
    }).then(item => item ? neighbours(item).then(near => state.item === id && showItem(item, near)) : missing(id));
  }

  document.addEventListener("keydown", event => {
    const inField = event.target.closest("input, select, textarea") && event.target.id !== "step";
    if (event.altKey || event.ctrlKey || event.metaKey || inField || one.hidden) {
      return;
    }
    const button = {j: "behind", k: "before"}[event.key], by = {ArrowLeft: -1, ArrowRight: 1}[event.key], slider = document.getElementById("step");
    if (button && document.getElementById(button)) {
      document.getElementById(button).click();
    } else if (by && slider && !event.target.closest("[role=region]")) {
      const to = Number(slider.value) + by;
      event.preventDefault();
      slider.value = String(to);
      slider.dispatchEvent(new Event("input"));
    }
  });
  window.addEventListener("popstate", () => { read(); show(); });
  read();
  data("about").then(found => {
    about = view.about = found;
    return show();
  });
})();

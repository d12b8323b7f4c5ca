// The leaderboard: which protocol and average is shown, sorting, copying. Everything is in the page already; this only
// hides, orders and reads it. The state lives in the address, so a copied link shows the same view.
(function () {
  "use strict";
  var form = document.getElementById("controls");
  if (!form) {
    return;
  }
  var said = document.getElementById("said");
  var sections = Array.prototype.slice.call(document.querySelectorAll("[data-protocol]"));
  // Each protocol averages in its own way, and its table opens with that.
  var defaults = {
    protocol: sections[0].dataset.protocol, average: "", granularity: checked("granularity"), metric: checked("metric"),
    columns: checked("columns"), sort: "", dir: ""
  };
  document.querySelectorAll("table[data-sortable] tbody").forEach(function (body) {
    Array.prototype.forEach.call(body.rows, function (row, index) { row.dataset.place = index; });
  });
  document.querySelectorAll("table[data-sortable] th[aria-sort]").forEach(function (cell) { cell.dataset.sorted = cell.getAttribute("aria-sort"); });
  var state = read();

  function checked(name) {
    var input = form.querySelector('input[name="' + name + '"]:checked');
    return input ? input.value : "";
  }

  function read() {
    var given = new URLSearchParams(location.hash.slice(1));
    var found = {};
    Object.keys(defaults).forEach(function (key) {
      found[key] = given.get(key) || defaults[key];
    });
    if (!sections.some(function (section) { return section.dataset.protocol === found.protocol; })) {
      found.protocol = defaults.protocol;
    }
    ["average", "granularity", "metric", "columns"].forEach(function (name) {
      if (found[name] && !Array.prototype.some.call(form.elements, function (input) { return input.name === name && input.value === found[name]; })) {
        found[name] = defaults[name];
      }
    });
    if (found.average === own(found.protocol)) {
      found.average = "";
    }
    found.columns = given.get("columns") === "main" || given.get("columns") === "all" ? given.get("columns") : usual(found);
    return found;
  }

  // Whoever asks for a granularity, a metric or the order of a further column is shown all columns of it.
  function usual(view) {
    var further = view.sort && Array.prototype.some.call(document.querySelectorAll("th.more"), function (cell) { return cell.dataset.key === view.sort; });
    return further || view.granularity !== defaults.granularity || view.metric !== defaults.metric ? "all" : "main";
  }

  function own(protocol) {
    return sections.find(function (section) { return section.dataset.protocol === protocol; }).dataset.own;
  }

  function average() {
    return state.average || own(state.protocol);
  }

  function write() {
    var kept = new URLSearchParams();
    Object.keys(defaults).forEach(function (key) {
      if (state[key] && state[key] !== (key === "columns" ? usual(state) : defaults[key])) {
        kept.set(key, state[key]);
      }
    });
    var hash = kept.toString().replace(/%40/g, "@");
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  }

  // Which columns stand: the first few, or all of the granularity and metric asked for; always the one that orders it.
  function columns(table) {
    if (!table.dataset.hasOwnProperty("sortable")) {
      return;
    }
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell) {
      var of = cell.dataset;
      var other = (state.columns === "main" && cell.classList.contains("more")) || Boolean(of.granularity) && [["granularity", of.granularity], ["metric", of.metric]].some(function (pair) {
        return state[pair[0]] && state[pair[0]] !== "all" && state[pair[0]] !== pair[1];
      });
      var hidden = other && !cell.classList.contains("primary");
      var place = cell.cellIndex;
      if (cell.hidden !== hidden) {
        Array.prototype.forEach.call(table.rows, function (row) {
          if (!row.classList.contains("apart")) {
            row.cells[place].hidden = hidden;
          }
        });
      }
    });
  }

  function show() {
    sections.forEach(function (section) {
      section.hidden = section.dataset.protocol !== state.protocol;
      section.querySelectorAll("[data-average]").forEach(function (box) {
        box.hidden = box.dataset.average !== average();
        box.querySelectorAll("table").forEach(columns);
      });
    });
    Array.prototype.forEach.call(form.elements, function (input) {
      if (input.type === "radio") {
        input.checked = (input.name === "average" ? average() : state[input.name]) === input.value;
      }
    });
    // The others when they are shown.
    if (!state.sort || !sort(current(), state.sort, state.dir)) {
      unsort(current());
    }
  }

  // The order a table came in: by the primary metric, as the chart above it.
  function unsort(table) {
    Array.prototype.forEach.call(table.tBodies, function (body) {
      Array.prototype.slice.call(body.rows).sort(function (a, b) { return a.dataset.place - b.dataset.place; }).forEach(function (row) { body.appendChild(row); });
    });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell) {
      cell.removeAttribute("aria-sort");
      if (cell.dataset.sorted) {
        cell.setAttribute("aria-sort", cell.dataset.sorted);
      }
    });
  }

  function current() {
    return document.querySelector("[data-protocol]:not([hidden]) [data-average]:not([hidden]) table");
  }

  function head(table, key) {
    return Array.prototype.find.call(table.tHead.rows[0].cells, function (cell) { return cell.dataset.key === key; });
  }

  function first(cell) {
    return cell.dataset.first || (cell.classList.contains("word") || cell.classList.contains("name") ? "ascending" : "descending");
  }

  // A cell's number; the small print beside it does not count. Not a number: missing, and so last either way.
  function number(cell) {
    var node = cell.firstChild;
    return node ? parseFloat(node.textContent.replace(/,/g, "")) : NaN;
  }

  function sort(table, key, dir) {
    var cell = head(table, key);
    if (!cell || cell.hidden) {
      return false;
    }
    var direction = dir === "ascending" || dir === "descending" ? dir : first(cell);
    var sign = direction === "ascending" ? 1 : -1;
    var place = cell.cellIndex;
    var words = cell.classList.contains("word") || cell.classList.contains("name");
    Array.prototype.forEach.call(table.tBodies, function (body) {
      var rows = Array.prototype.filter.call(body.rows, function (row) { return !row.classList.contains("apart"); });
      var keyed = rows.map(function (row, index) {
        var content = row.cells[place];
        return { row: row, index: index, value: words ? content.textContent.trim().toLowerCase() : number(content) };
      });
      keyed.sort(function (a, b) {
        var missing = (a.value !== a.value) - (b.value !== b.value);
        if (missing) {
          return missing;
        }
        return a.value < b.value ? -sign : a.value > b.value ? sign : a.index - b.index;
      });
      var ordered = document.createDocumentFragment();
      keyed.forEach(function (each) { ordered.appendChild(each.row); });
      body.appendChild(ordered);
    });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (each) { each.removeAttribute("aria-sort"); });
    cell.setAttribute("aria-sort", direction);
    return direction;
  }

  // What is seen of a row. The small print beside a number is left out where numbers are to be read.
  function texts(row, numbers) {
    return Array.prototype.filter.call(row.cells, function (cell) { return !cell.hidden; }).map(function (cell) {
      var isNumber = numbers && cell.tagName === "TD" && !cell.classList.contains("word");
      return (isNumber && cell.firstChild ? cell.firstChild : cell).textContent.replace(/\s+/g, " ").trim();
    });
  }

  // A spreadsheet would run a text that begins like a formula.
  function cell(text) {
    var isFormula = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^[+-]?[0-9.]+$/.test(text);
    var plain = isFormula ? "'" + text : text;
    return /[",\n\r]/.test(plain) ? '"' + plain.replace(/"/g, '""') + '"' : plain;
  }

  function escaped(text) {
    return text.replace(/([\\`*_|<>\[\]~&$])/g, "\\$1");
  }

  function copied(kind) {
    var table = current();
    var shown = Array.prototype.filter.call(table.rows, function (row) { return !row.classList.contains("apart"); });
    if (kind === "csv") {
      return shown.map(function (row) { return texts(row, true).map(cell).join(","); }).join("\n") + "\n";
    }
    var lines = shown.map(function (row) { return "| " + texts(row, false).map(escaped).join(" | ") + " |"; });
    lines.splice(1, 0, "|" + texts(shown[0], false).map(function () { return " --- |"; }).join(""));
    return "**" + escaped(table.caption.textContent.replace(/\s+/g, " ").trim()) + "**\n\n" + lines.join("\n") + "\n";
  }

  function copy(text, done) {
    if (navigator.clipboard) {
      navigator.clipboard.writeText(text).then(function () { done(true); }, function () { done(old(text)); });
    } else {
      done(old(text));
    }
  }

  function old(text) {
    var area = document.createElement("textarea");
    area.value = text;
    area.className = "off";
    document.body.appendChild(area);
    area.select();
    var worked = document.execCommand("copy");
    area.remove();
    return worked;
  }

  form.addEventListener("change", function (event) {
    state[event.target.name] = event.target.value;
    if (event.target.name === "granularity" || event.target.name === "metric") {
      state.columns = usual(state);
    }
    if (event.target.name === "protocol" || state.average === own(state.protocol)) {
      state.average = "";
    }
    show();
    write();
    said.textContent = "Showing " + current().caption.textContent.trim() + ".";
  });

  form.addEventListener("click", function (event) {
    var kind = event.target.dataset.copy;
    if (kind) {
      copy(copied(kind), function (worked) {
        var name = kind === "csv" ? "CSV" : "Markdown";
        said.textContent = worked ? "Copied this view as " + name + "." : "The browser does not let pages copy here.";
      });
    }
  });

  // Without scripts a head is plain text; with them it is a button.
  document.querySelectorAll("table[data-sortable] thead th").forEach(function (cell) {
    var button = document.createElement("button");
    button.type = "button";
    button.append.apply(button, Array.prototype.slice.call(cell.childNodes));
    cell.appendChild(button);
    button.addEventListener("click", function () {
      var before = cell.getAttribute("aria-sort");
      var dir = before ? (before === "ascending" ? "descending" : "ascending") : first(cell);
      state.sort = cell.dataset.key;
      state.dir = dir === first(cell) ? "" : dir;
      show();
      write();
      said.textContent = "Sorted by " + button.textContent.replace(/\s+/g, " ").trim() + ", " + dir + ".";
    });
  });

  window.addEventListener("hashchange", function () {
    state = read();
    show();
  });

  show();
})();

// The outcome of each system on each item: loads the files of report/pages/compare.py, and compares two runs as
// `evaluate` does, on the items for which both have a value.
(function () {
  "use strict";
  const boards = {};
  const HIDDEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu;

  function bytes(text) {
    return goldspan.unpack(text).then((raw) => raw.buffer);
  }

  function json(text) {
    return bytes(text).then((buffer) => JSON.parse(new TextDecoder().decode(buffer)));
  }

  // Integers of 1, 2 or 4 bytes each.
  function whole(text, n) {
    return bytes(text).then((buffer) => {
      const width = n ? buffer.byteLength / n : 1;
      return width === 1 ? new Uint8Array(buffer) : width === 2 ? new Uint16Array(buffer) : new Uint32Array(buffer);
    });
  }

  // The number of every item; NaN if it has none.
  function numbers(column, n) {
    return Promise.all([bytes(column.values), whole(column.codes, n)]).then(([buffer, codes]) => {
      const values = new Float64Array(buffer);
      const found = new Float64Array(n);
      for (let i = 0; i < n; i++) {
        found[i] = codes[i] ? values[codes[i] - 1] : NaN;
      }
      return found;
    });
  }

  function opened(path, said) {
    const parts = [json(said.ids), whole(said.repo, said.n), whole(said.language, said.n), whole(said.stratum, said.n), whole(said.ease, said.n), numbers(said.gold, said.n)];
    return Promise.all(parts).then(([ids, repo, language, stratum, ease, gold]) => {
      const known = {};
      const once = (key, make) => (known[key] = known[key] || make());
      return Object.assign({}, said, {
        repo: repo, language: language, ease: ease, gold: gold,
        id: (place) => ids[place],
        place: (key) => said.runs.findIndex((run) => run.key === key),
        // A run's outcomes: value; numerator and denominator of ratios; for lines, the numbers of gold lines found and
        // of lines returned; and `why`, the ledger class.
        run: (key) => once(key, () => goldspan.load(path + "/" + key + ".js", path + "/" + key).then((found) => Promise.all(
          ["value", "numerator", "denominator", "found", "returned"].map((name) => found[name] && numbers(found[name], said.n)).concat(found.why && whole(found.why, said.n))
        ).then(([value, numerator, denominator, gold, returned, why]) => ({ key: key, value: value, numerator: numerator, denominator: denominator, found: gold, returned: returned, why: why })))),
        // The numbers of all runs and pairs over one value of the slice, and the range of its (contiguous) items.
        slice_of: (place) => once("slice " + place, () => goldspan.load(path + "/slice-" + place + ".js", path + "/slice-" + place).then((found) => json(found.pairs).then((pairs) => {
          const from = stratum.indexOf(place);
          return Object.assign({}, found, { pairs: pairs, from: Math.max(from, 0), to: from < 0 ? 0 : stratum.lastIndexOf(place) + 1 });
        })))
      });
    });
  }

  // The sums of both runs, by group, over the items for which both have a value.
  function sums(board, a, b, slice, codes, n_groups) {
    const found = { n: new Float64Array(n_groups), a: new Float64Array(n_groups), b: new Float64Array(n_groups), below_a: new Float64Array(n_groups), below_b: new Float64Array(n_groups) };
    const micro = board.average === "micro";
    for (let i = slice.from; i < slice.to; i++) {
      if (a.value[i] === a.value[i] && b.value[i] === b.value[i]) {
        const group = codes[i];
        found.n[group] += 1;
        found.a[group] += micro ? a.numerator[i] : a.value[i];
        found.b[group] += micro ? b.numerator[i] : b.value[i];
        found.below_a[group] += micro ? a.denominator[i] : 1;
        found.below_b[group] += micro ? b.denominator[i] : 1;
      }
    }
    return found;
  }

  function total(array) {
    return array.reduce((one, other) => one + other, 0);
  }

  function ratio(above, below) {
    return below > 0 ? above / below : 0;
  }

  // The difference b minus a, and the numbers of items on which b is better, equal or worse.
  function pair(board, a, b, slice) {
    const by = sums(board, a, b, slice, board.repo, board.repos.length);
    let above = 0;
    let below = 0;
    for (let i = slice.from; i < slice.to; i++) {
      above += b.value[i] > a.value[i];
      below += b.value[i] < a.value[i];
    }
    const n = total(by.n);
    let delta = ratio(total(by.b), total(by.below_b)) - ratio(total(by.a), total(by.below_a));
    if (board.average === "by_repo") {
      const repos = Array.from(by.n.keys()).filter((group) => by.n[group]);
      delta = total(repos.map((group) => (by.b[group] - by.a[group]) / by.n[group])) / repos.length;
    }
    const better = board.sign < 0 ? below : above;
    const worse = board.sign < 0 ? above : below;
    return { delta: delta, n: n, wins: better, ties: n - above - below, losses: worse };
  }

  // The 97.5 % point of Student's t by the Cornish–Fisher expansion, to three digits from 4 degrees of freedom on.
  function t975(degrees) {
    const z = 1.959963984540054;
    return z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2) +
      (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degrees ** 3);
  }

  const FEWEST = 5;

  // The difference within each repository or language; intervals are over items, and missing below FEWEST items.
  function within(board, a, b, slice, name) {
    const codes = board[name];
    const names = board[name + "s"];
    const by = sums(board, a, b, slice, codes, names.length);
    const squares = new Float64Array(names.length);
    const micro = board.average === "micro";
    const rates = names.map((_, group) => [ratio(by.a[group], by.below_a[group]), ratio(by.b[group], by.below_b[group])]);
    for (let i = slice.from; i < slice.to; i++) {
      if (a.value[i] === a.value[i] && b.value[i] === b.value[i]) {
        const group = codes[i];
        const off = micro
          ? ratio(b.numerator[i] - rates[group][1] * b.denominator[i], by.below_b[group]) - ratio(a.numerator[i] - rates[group][0] * a.denominator[i], by.below_a[group])
          : (b.value[i] - a.value[i] - rates[group][1] + rates[group][0]) / by.n[group];
        squares[group] += off * off;
      }
    }
    return names.map((label, group) => {
      const n = by.n[group];
      const delta = rates[group][1] - rates[group][0];
      const half = n < FEWEST ? null : t975(n - 1) * Math.sqrt(squares[group] * n / (n - 1));
      return { label: label, n: n, delta: delta, low: half === null ? null : delta - half, high: half === null ? null : delta + half };
    }).filter((one) => one.n).sort((one, other) => other.n - one.n || (one.label < other.label ? -1 : 1));
  }

  // Rounds as Python does: half-way cases go to the even digit. Only multiples of 2^-16 are taken as half-way.
  function rounded(value, digits) {
    const scaled = Math.abs(value) * Math.pow(10, digits);
    const between = scaled % 1 === 0.5 && (value * 65536) % 1 === 0;
    return between && Math.floor(scaled) % 2 === 0 ? (Math.floor(scaled) / Math.pow(10, digits)).toFixed(digits) : Math.abs(value).toFixed(digits);
  }

  // A number with its sign, unless it rounds to zero.
  function shown(value, digits, plus) {
    if (value === null || value === undefined || value !== value) {
      return "–";
    }
    const text = rounded(value, digits);
    return (Number(text) === 0 ? "" : value < 0 ? "−" : plus) + text;
  }

  goldspan.outcomes = {
    open: (path) => (boards[path] = boards[path] || goldspan.load(path + ".js", path).then((said) => opened(path, said))),
    pair: pair,
    within: within,
    FEWEST: FEWEST,
    number: (value, digits) => shown(value, digits, ""),
    signed: (value, digits) => shown(value, digits, "+"),
    count: (n) => (n === null || n === undefined ? "–" : String(n).replace(/\B(?=(\d{3})+$)/g, ",")),
    // The text with hidden characters as visible escapes.
    visible: (text) => text.replace(HIDDEN, (one) => "\\u{" + one.codePointAt(0).toString(16).toUpperCase() + "}"),
    // An element with a text and attributes.
    element: (name, text, attributes) => {
      const made = document.createElement(name);
      Object.entries(attributes || {}).forEach(([key, value]) => made.setAttribute(key, value));
      if (text !== undefined && text !== null) { made.textContent = text; }
      return made;
    },
    // Rows as CSV. Texts that a spreadsheet would run as a formula get an apostrophe before them.
    csv: (rows) => rows.map((row) => row.map((each) => {
      const text = each === null || each !== each ? "" : String(each);
      const plain = typeof each === "string" && /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text) ? "'" + text : text;
      return /[",\n\r]/.test(plain) ? '"' + plain.replace(/"/g, '""') + '"' : plain;
    }).join(",")).join("\n") + "\n",
    keep: (name, text, type) => {
      const link = document.createElement("a");
      const address = URL.createObjectURL(new Blob([text], { type: type }));
      link.href = address;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
    }
  };
})();

// A leaderboard's view as plain values: numbers as text, and rows made from a board's data. No markup here.
(function () {
  "use strict";
  const MISSING = "–";
  const ENDS = { macro: ["low", "high"], micro: ["micro_low", "micro_high"], by_repo: ["by_repo_low", "by_repo_high"] };
  const NARROW = 0.04;
  const FAR = 2;
  const N_SHOWN = 15;

  // A number to `digits` decimals, rounded as in Python: half-way cases go to the even digit.
  function fixed(value, digits, sign) {
    if (value === null || value === undefined) {
      return MISSING;
    }
    const size = Math.abs(value);
    const isHalfWay = (size * Math.pow(2, digits + 1)) % 2 === 1;
    const scale = Math.pow(10, digits);
    const text = (isHalfWay ? (2 * Math.round((size * scale) / 2)) / scale : size).toFixed(digits);
    return (value < 0 || Object.is(value, -0) ? "−" : sign ? "+" : "") + text;
  }

  function count(value) {
    return value === null || value === undefined ? MISSING : String(value).replace(/\B(?=(\d{3})+$)/g, ",");
  }

  function plural(number, noun) {
    return count(number) + " " + noun + (number === 1 ? "" : "s");
  }

  function share(value) {
    return value === null || value === undefined ? MISSING : fixed(100 * value, 0) + " %";
  }

  function measured(value) {
    return value >= 10 ? count(Number(fixed(value, 0))) : fixed(value, value < 1 ? 2 : 1);
  }

  function between(low, high, digits) {
    return low === null || high === null ? "" : fixed(low, digits) + " to " + fixed(high, digits);
  }

  function groupName(number) {
    let letters = "";
    while (number > 0) {
      const last = (number - 1) % 26;
      letters = String.fromCharCode(65 + last) + letters;
      number = (number - 1 - last) / 26;
    }
    return letters;
  }

  // Field name → a run's number in a slice; null if the run has none there.
  function cell(board, file, slice, run) {
    const fields = ((file && file[slice]) || [])[run];
    if (!fields) {
      return null;
    }
    const found = {};
    board.fields.forEach((name, place) => { found[name] = place < fields.length ? fields[place] : null; });
    return found;
  }

  // The average shown of a column: if the protocol's is micro, metrics of steps or without a ratio of sums are means.
  function averaged(board, column, average) {
    const isMean = average === "micro" && board.average === "micro" && (column.micro === "none" || column.steps);
    return isMean ? "macro" : average;
  }

  function values(board, column, file, slice, average) {
    const kind = averaged(board, column, average);
    return board.runs.map((_, run) => {
      const of = cell(board, file, slice, run);
      return of ? { cell: of, value: of[kind], low: of[ENDS[kind][0]], high: of[ENDS[kind][1]] } : { cell: null, value: null, low: null, high: null };
    });
  }

  // Runs sorted by a value: best first, missing values last, equal ones in their previous order.
  function inOrder(places, of, better) {
    const sign = better === "lower" ? 1 : -1;
    return places.map((run, place) => ({ run, place })).sort((a, b) => {
      const one = of(a.run), other = of(b.run);
      return (one === null) - (other === null) || (one < other ? -sign : one > other ? sign : a.place - b.place);
    }).map((each) => each.run);
  }

  function sliceOf(board, name) {
    for (const slice of board.slices) {
      for (const [value, n, asked] of slice.values) {
        if (slice.name + "=" + value === name) {
          return { name, slice: slice.name, value, n, asked };
        }
      }
    }
    return null;
  }

  function marksOf(board, found, compared) {
    const kept = {};
    compared.filter((run) => board.runs[run].mark).forEach((run) => {
      const kind = board.runs[run].mark;
      kept[kind] = run === board.reference || !(kind in kept) ? run : kept[kind];
    });
    return compared.filter((run) => Object.values(kept).includes(run) && found[run].value !== null);
  }

  // The content of a table in a view. `files`: column → the numbers loaded; `costs`: the measured costs, if loaded.
  function view(board, state, files, costs) {
    const primary = board.columns[0];
    const column = board.columns.find((one) => one.name === state.metric) || primary;
    const at = sliceOf(board, state.slice);
    const of = (one) => values(board, one, files[one.name], at.name, state.average);
    const found = of(column);
    const ranks = board.runs.map((_, run) => cell(board, files[primary.name], at.name, run));
    const base = values(board, primary, files[primary.name], at.name, board.average);
    const every = inOrder(inOrder(board.runs.map((_, run) => run), (run) => base[run].value, primary.better), (run) => found[run].value, column.better);
    const isCompared = (run) => board.runs[run].whole && ranks[run] !== null && ranks[run].n === at.asked;
    const compared = every.filter(isCompared);
    const systems = compared.filter((run) => !board.runs[run].mark);
    const widths = systems.map((run) => found[run]).filter((one) => one.low !== null && one.high !== null).map((one) => one.high - one.low).sort((a, b) => a - b);
    const digits = widths.length && widths[(widths.length - 1) >> 1] >= NARROW ? 2 : 3;
    const marked = marksOf(board, found, compared);
    const reach = Math.max(0, ...systems.flatMap((run) => [found[run].value, found[run].high]).filter((one) => one !== null));
    const most = Math.max(reach, ...marked.map((run) => found[run].value).filter((one) => one <= FAR * reach)) || 1;
    const place = (value) => 100 * Math.min(Math.max(value / most, 0), 1);
    const isOwn = state.average === board.average;
    const isMacro = averaged(board, column, state.average) === "macro" && state.average === "macro";
    const bottom = board.reference === null ? null : found[board.reference];

    function line(run) {
      const { cell: head, value, low, high } = found[run], rank = ranks[run];
      let delta = head && isOwn ? head.delta : null, ends = delta === null ? ["", ""] : [head.delta_low, head.delta_high];
      if (delta === null && value !== null && bottom !== null && bottom.value !== null && head.n === bottom.cell.n) {
        delta = value - bottom.value;
        ends = [null, null];
      }
      const cost = costs && costs[run], median = cost ? cost[2] : null;
      const n = rank ? rank.n : 0;
      return {
        run, system: board.runs[run], value, low, high,
        state: board.runs[run].state || (isCompared(run) ? "" : count(n) + " of " + plural(at.n, "item")),
        rank: rank && rank.rank !== null ? count(rank.rank) : MISSING,
        places: rank && rank.rank_low !== null ? rank.rank_low + "–" + rank.rank_high : "",
        tie: rank && rank.tie_group ? groupName(rank.tie_group) : "",
        shown: fixed(value, digits),
        interval: between(low, high, digits),
        bar: value === null || low === null || high === null ? null : { start: place(low), width: place(high) - place(low), at: place(value) },
        delta: run === board.reference ? "reference" : fixed(delta, digits, true),
        deltaInterval: run === board.reference || delta === null ? "" : between(ends[0], ends[1], digits),
        oracle: share(head && isMacro ? head.share_of_oracle : null),
        n: head ? count(head.n) + "/" + count(at.n) : MISSING,
        failed: head ? head.n_failed : 0,
        read: count(head ? head.read : null),
        time: median === null ? "" : measured(median * 1000) + " ms",
        keys: {
          rank: rank && rank.rank, system: (board.runs[run].name + " " + board.runs[run].by).toLowerCase(), [column.name]: value,
          delta: run === board.reference ? 0 : delta, oracle: head && head.share_of_oracle, n: head && head.n, read: head && head.read
        },
        further: {}
      };
    }

    const lines = {};
    every.forEach((run) => { lines[run] = line(run); });
    const further = board.columns.filter((one) => one !== column && (state.columns === "all" || state.columns.split(",").includes(one.name)) && files[one.name]);
    further.forEach((one) => {
      of(one).forEach((number, run) => {
        lines[run].further[one.name] = fixed(number.value, 3);
        lines[run].keys[one.name] = number.value;
      });
    });
    const wanted = state.search.toLowerCase();
    const isWanted = (run) => (!state.kind || board.runs[run].kind === state.kind) &&
      (!wanted || (board.runs[run].system + " " + lines[run].keys.system).toLowerCase().includes(wanted));
    const parts = [
      { title: "", runs: systems.filter(isWanted) },
      { title: "Baselines: yardsticks, not ranked", runs: state.baselines ? every.filter((run) => board.runs[run].mark) : [] },
      { title: "Not comparable with the rows above: limited, partial, failed, or a mean over fewer items",
        runs: state.complete ? [] : every.filter((run) => !board.runs[run].mark && !isCompared(run) && isWanted(run)) }
    ];
    const heads = systems.map((run) => ranks[run]);
    return {
      primary, isByPrimary: isOwn && column === primary,
      // Verdicts are stored only for the protocol's own average; else that of the opening view is shown, with its name.
      verdict: isOwn && (board.verdicts[column.name] || {})[at.name] || board.verdict,
      board, column, at, digits, further, parts, lines, systems,
      nSystems: parts[0].runs.length + parts[2].runs.length,
      isLowerBetter: column.better === "lower",
      marks: marked.map((run) => ({
        system: board.runs[run], shown: fixed(found[run].value, digits), interval: between(found[run].low, found[run].high, digits),
        at: place(found[run].value), isBeyond: found[run].value > most
      })),
      has: {
        rank: heads.some((one) => one.rank !== null),
        delta: board.reference !== null,
        oracle: isMacro && systems.some((run) => found[run].cell && found[run].cell.share_of_oracle !== null),
        read: systems.some((run) => found[run].cell && found[run].cell.read !== null)
      },
      isOfItems: systems.some((run) => found[run].low !== null && found[run].cell.unit === "item"),
      isTooFew: heads.some((one) => one.too_few)
    };
  }

  // The rows shown of each part of a view: sorted as the state has it, and systems limited in number.
  function shown(found, state, first) {
    const key = state.sort, limit = state.rows === "all" ? Infinity : N_SHOWN;
    let left = limit;
    return found.parts.map((part) => {
      let runs = part.runs;
      if (key) {
        const better = (state.dir || first) === "ascending" ? "lower" : "higher";
        runs = inOrder(runs, (run) => { const value = found.lines[run].keys[key]; return value === undefined ? null : value; }, better);
      }
      const isBaselines = part === found.parts[1];
      const kept = isBaselines ? runs : runs.slice(0, left);
      left -= isBaselines ? 0 : kept.length;
      return { title: part.title, lines: kept.map((run) => found.lines[run]) };
    });
  }

  window.goldspan.board = { MISSING, fixed, count, plural, measured, between, cell, values, view, shown, sliceOf, inOrder };
})();

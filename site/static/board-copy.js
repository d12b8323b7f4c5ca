// Exports a view as CSV, Markdown or LaTeX.
(function () {
  "use strict";
  const { columns } = window.goldspan.board;

  // The cells of a row as text: the number, with its interval if there is one.
  function cells(found, line) {
    const beside = (text, interval) => (interval ? text + " (" + interval + ")" : text);
    return columns(found).map(([key]) => ({
      rank: beside(line.rank, line.places && line.places + (line.tie ? ", tie " + line.tie : "")),
      system: line.system.system, [found.column.name]: beside(line.shown, line.interval), delta: beside(line.delta, line.deltaInterval),
      oracle: line.oracle, n: line.n, read: line.read
    })[key] || line.further[key] || "");
  }

  // CSV for spreadsheets has each number in a column of its own; texts that look like a formula must not be run.
  function csv(found, lines) {
    const plain = (text) => text.replace(/−/g, "-").replace(/^–$/, "").replace(/(\d),(?=\d{3})/g, "$1");
    const quoted = (text) => {
      const isFormula = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) && !/^[+-]?[0-9.]+( %)?$/.test(text);
      const safe = isFormula ? "'" + text : text;
      return /[",\n\r]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
    };
    const heads = columns(found).flatMap(([key, words]) => ({
      rank: [found.isByPrimary ? "rank" : "rank_by_" + found.primary.name, "rank_low", "rank_high", "tie_group"], [found.column.name]: [found.column.name, "low", "high"], delta: ["difference", "difference_low", "difference_high"],
      n: ["n", "n_items"], read: ["characters"], system: ["system"], oracle: ["of_the_oracle"]
    })[key] || [words]);
    const split = (text) => (text ? text.split(" to ") : ["", ""]);
    const rows = lines.map((line) => columns(found).flatMap(([key]) => ({
      rank: [line.rank, ...(line.places ? line.places.split("–") : ["", ""]), line.tie], system: [line.system.system],
      [found.column.name]: [line.shown, ...split(line.interval)], delta: [line.delta === "reference" ? "" : line.delta, ...split(line.deltaInterval)],
      oracle: [line.oracle], n: line.n.includes("/") ? line.n.split("/") : ["", ""], read: [line.read]
    })[key] || [line.further[key]]));
    return [heads, ...rows].map((row) => row.map((text) => quoted(plain(text))).join(",")).join("\n") + "\n";
  }

  function markdown(found, lines, title) {
    const escaped = (text) => text.replace(/([\\`*_|<>[\]~&$])/g, "\\$1");
    const rows = [columns(found).map((one) => one[1]), ...lines.map((line) => cells(found, line))].map((row) => "| " + row.map(escaped).join(" | ") + " |");
    rows.splice(1, 0, "|" + columns(found).map(() => " --- |").join(""));
    return "**" + escaped(title) + "**\n\n" + rows.join("\n") + "\n";
  }

  const TEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "−": "$-$", "–": "--", "≥": "$\\geq$", "≤": "$\\leq$" };

  function latex(found, lines, title) {
    const escaped = (text) => text.replace(/[\\~^−–≥≤]|[{}&%$#_]/g, (one) => TEX[one] || "\\" + one);
    const rows = [columns(found).map((one) => one[1]), ...lines.map((line) => cells(found, line))].map((row) => row.map(escaped).join(" & ") + " \\\\");
    const kinds = columns(found).map(([key]) => (key === "system" ? "l" : "r")).join("");
    return ["% needs \\usepackage{booktabs}", "\\begin{table}", "\\centering", "\\caption{" + escaped(title) + "}", "\\begin{tabular}{" + kinds + "}", "\\toprule",
      rows[0], "\\midrule", ...rows.slice(1), "\\bottomrule", "\\end{tabular}", "\\end{table}"].join("\n") + "\n";
  }

  Object.assign(window.goldspan.board, { texts: { csv: ["CSV", csv], markdown: ["Markdown", markdown], latex: ["LaTeX", latex] } });
})();

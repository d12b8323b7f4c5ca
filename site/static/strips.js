// Ranges of lines: arithmetic, and files as strips on which ranges are drawn. A range is [start, end), counted from 0;
// pages show lines counted from 1, with the last one included.
(function () {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";

  // The same lines as sorted, disjoint ranges.
  function merged(ranges) {
    const held = [];
    ranges.filter(one => one[0] < one[1]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).forEach(one => {
      const last = held[held.length - 1];
      if (last && one[0] <= last[1]) {
        last[1] = Math.max(last[1], one[1]);
      } else {
        held.push([one[0], one[1]]);
      }
    });
    return held;
  }

  function size(ranges) {
    return merged(ranges).reduce((sum, one) => sum + one[1] - one[0], 0);
  }

  // The lines in both, as disjoint ranges.
  function both(left, right) {
    const one = merged(left), other = merged(right), shared = [];
    for (let i = 0, j = 0; i < one.length && j < other.length;) {
      const start = Math.max(one[i][0], other[j][0]), end = Math.min(one[i][1], other[j][1]);
      if (start < end) {
        shared.push([start, end]);
      }
      if (one[i][1] < other[j][1]) { i += 1; } else { j += 1; }
    }
    return shared;
  }

  // A flat list of ranges (file, start, end), split by file: [[start, end], …] for each.
  function byFile(numbers, nFiles) {
    const files = Array.from({length: nFiles}, () => []);
    for (let at = 0; at < numbers.length; at += 3) {
      files[numbers[at]].push([numbers[at + 1], numbers[at + 2]]);
    }
    return files;
  }

  // The numbers of lines that are gold, returned, and both; lines after the end of a file do not count.
  function sizes(gold, returned, lengths) {
    const cut = (ranges, file) => lengths[file] < 0 ? ranges : ranges.map(one => one.map(line => Math.min(line, lengths[file])));
    const found = {gold: 0, returned: 0, both: 0};
    lengths.forEach((_, file) => {
      const should = cut(gold[file], file), held = cut(returned[file], file);
      found.gold += size(should);
      found.returned += size(held);
      found.both += size(both(should, held));
    });
    return found;
  }

  function said(ranges) {
    return merged(ranges).map(one => one[1] === one[0] + 1 ? String(one[1]) : (one[0] + 1) + "–" + one[1]).join(", ");
  }

  // At most `most` ticks, at round numbers.
  function ticks(length, most) {
    const rough = Math.max(1, length / most), power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough);
    const found = [];
    for (let at = step; at <= length - step / 3; at += step) {
      found.push(at);
    }
    return found;
  }

  // An element with attributes and content: elements, and texts with hidden characters made visible.
  function element(name, values, ...within) {
    const made = document.createElement(name);
    Object.entries(values || {}).forEach(([key, value]) => made.setAttribute(key, value));
    made.append(...within.filter(one => one !== undefined && one !== "").map(one => typeof one === "string" ? goldspan.visible(one) : one));
    return made;
  }

  function drawn(name, values) {
    const made = document.createElementNS(SVG, name);
    Object.entries(values).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  }

  // One row: its title, and its ranges along the file. `layers`: [[class, ranges], …], each drawn over the ones before.
  function row(title, kind, length, layers, label) {
    const said = goldspan.visible(title) + ": " + (label || "no line of this file");
    const svg = drawn("svg", {viewBox: "0 0 " + Math.max(1, length) + " 10", preserveAspectRatio: "none", class: kind, role: "img", "aria-label": said});
    layers.forEach(([name, ranges]) => merged(ranges).forEach(([start, end]) => {
      svg.append(drawn("rect", {class: name, x: start, y: 0, width: end - start, height: 10}));
    }));
    return element("div", {class: "lane"}, element("span", {class: "who"}, ...goldspan.breakable(title)), svg);
  }

  // The row of an answer in a file, with gold lines in a class of their own.
  function answer(title, kind, length, gold, returned) {
    const right = both(gold, returned);
    const told = size(returned) ? "lines " + said(returned) + "; " + size(right) + " of them gold" : "";
    return row(title, kind, length, [["wrong", returned], ["right", right]], told);
  }

  function axis(length) {
    const scale = element("span", {class: "scale"});
    [1].concat(ticks(length, 8)).forEach(line => {
      const mark = element("span", {}, line.toLocaleString("en"));
      mark.style.left = 100 * (line === 1 ? 0 : line) / length + "%";
      scale.append(mark);
    });
    return element("div", {class: "lane axis", "aria-hidden": "true"}, element("span", {class: "who"}), scale);
  }

  goldspan.strips = {merged, size, both, byFile, sizes, said, row, answer, axis, element};
})();

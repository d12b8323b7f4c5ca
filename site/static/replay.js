// A replay of an agent's steps: the lines read at each, and the share of the gold seen so far.
(function () {
  "use strict";
  const {element, byFile, sizes, size, both, row, said} = goldspan.strips;

  // A long text cut at its start, since paths differ at their ends.
  function tail(text) {
    return text.length > 36 ? "…" + text.slice(-35) : text;
  }

  // The replay of one run at a step (from 1); strips call its `stripRow`.
  function replay(about, item, run, step) {
    const steps = goldspan.item.stepsOf(item, run), seen = goldspan.item.seenBy(item, run), n = sizes(item.goldByFile, item.files.map(() => []), item.lengths).gold;
    const at = Math.min(Math.max(1, step || steps.length), steps.length);
    const files = item.files.length, before = byFile(steps.slice(0, at - 1).flat(), files), now = byFile(steps[at - 1], files);

    // Layers: light for lines seen so far, strong for gold among them, framed for lines read at this step.
    function stripRow(file, length) {
      const gold = item.goldByFile[file], held = before[file].concat(now[file]);
      const layers = [["wrong", held], ["right", both(gold, held)], ["now", now[file]]];
      const told = size(held) ? "lines " + said(held) + "; at this step " + (said(now[file]) || "none") : "";
      return row(about.runs[run].title + ", seen by step " + at, "agent", length, layers, told);
    }

    function shows(step) {
      const held = byFile(step, files), parts = [];
      held.forEach((ranges, file) => {
        if (ranges.length) {
          parts.push(item.files[file] + (size(ranges) ? "#L" + said(ranges).replace(/, /g, ",L") : ""));
        }
      });
      return parts.join(", ") || "nothing";
    }

    function list(go) {
      const all = element("ol", {"aria-labelledby": "steps-name"});
      steps.forEach((one, place) => {
        const full = element("span"), bar = element("span", {class: "seen-bar", "aria-hidden": "true"}, full);
        full.style.width = (n ? 100 * seen[place] / n : 0) + "%";
        const button = element("button", {type: "button", "aria-pressed": String(place + 1 === at)}, element("b", {}, String(place + 1)), " ",
          element("code", {title: goldspan.visible(shows(one))}, tail(shows(one))), bar, element("span", {class: "by"}, goldspan.item.share(seen[place], n)));
        button.addEventListener("click", () => go(place + 1));
        all.append(element("li", {}, button));
      });
      return element("section", {class: "steps"}, element("h2", {id: "steps-name"}, about.runs[run].title + ", step by step"), all,
        element("p", {class: "note"}, "Gold lines seen up to each step, in any order; lines that were seen may not have been kept."));
    }

    function slider(runs, go, choose) {
      const made = element("div", {class: "replay", role: "group", "aria-label": "Replay"});
      if (runs.length > 1) {
        const pick = element("select", {"aria-label": "Which agent is replayed"});
        runs.forEach(one => {
          const option = element("option", {value: String(one)}, about.runs[one].title);
          option.selected = one === run;
          pick.append(option);
        });
        pick.addEventListener("change", () => choose(Number(pick.value)));
        made.append(element("label", {}, "Replay ", pick));
      }
      const input = element("input", {type: "range", min: "1", max: String(steps.length), step: "1", "aria-label": "Step of " + about.runs[run].title, id: "step"});
      const told = element("output", {for: "step"});
      tell(input, told);
      input.addEventListener("input", () => go(Number(input.value)));
      made.append(input, element("small", {}, "← → step"), told);
      return made;
    }

    // Shows the current step in the slider and next to it.
    function tell(input, told) {
      const gold = goldspan.item.share(seen[at - 1], n);
      input.value = String(at);
      input.setAttribute("aria-valuetext", "step " + at + ", " + gold + " of the gold seen");
      told.replaceChildren("step ", element("b", {}, String(at)), " of " + steps.length + " · gold seen " + gold + " · ", element("code", {}, shows(steps[at - 1])));
    }

    // Whether any step reads lines of a file.
    const shownFiles = byFile(steps.flat(), files).map(ranges => size(ranges) > 0);

    return {run, at, n: steps.length, shows: file => shownFiles[file], row: stripRow, list, slider, tell};
  }

  goldspan.give("replay", replay);
})();

// What a visit looks for in a page: each function answers with what is wrong, in words; nothing wrong is an empty list.
({
  page: () => {
    const all = [...document.querySelectorAll("*")];
    const name = (each) =>
      each.tagName.toLowerCase() + (each.id ? "#" + each.id : "") + "." + (each.getAttribute("class") || "");
    const attributes = (each, wanted) =>
      [...each.attributes].filter(wanted).map((one) => name(each) + " " + one.name + "=" + one.value.slice(0, 80));
    // Control characters and those that turn the reading direction.
    const hidden = /[\u0000-\u0008\u202a-\u202e\u2066-\u2069]/;
    const sortable = [...document.querySelectorAll("table[data-sortable]")];
    const isTitled = document.title.endsWith("· Goldspan") && [...document.querySelectorAll("main h1")]
      .filter((each) => each.getClientRects().length).length === 1;
    return {
      title: isTitled ? [] : [document.title],
      elsewhere: [...document.querySelectorAll("script, link, img, source, iframe, object, embed, image, use")]
        .flatMap((each) => attributes(each, (one) => /^(src|href|data)$/.test(one.name) && /^([a-z]+:)?\/\//i.test(one.value)))
        .concat(all.flatMap((each) => attributes(each, (one) => one.name === "style" && /url\(/.test(one.value)))),
      policy: [...document.querySelectorAll("meta[http-equiv]")].map((each) => each.content),
      inline: [...document.scripts].filter((each) => !each.getAttribute("src") || each.type === "module").map(name),
      handlers: all.flatMap((each) => attributes(each, (one) => /^on/.test(one.name)
        || (/^(href|src|action)$/.test(one.name) && /^\s*javascript:/i.test(one.value)))),
      heads: [...document.querySelectorAll("th:not([scope])")].map((each) => each.textContent),
      captions: [...document.querySelectorAll("table")]
        .filter((each) => !each.caption || !each.caption.textContent.trim()).map(name),
      attack: [...document.querySelectorAll('img[src="x"]')].map(name)
        .concat(all.filter((each) => [...each.childNodes].some((one) => one.nodeType === 3 && hidden.test(one.data)))
          .map(name)),
      live: sortable.length && !document.querySelector("[role=status], [aria-live=polite]") ? ["no live region"] : [],
      sorted: sortable.filter((each) => each.querySelectorAll("[aria-sort]").length > 1
        || [...each.tHead.rows[0].cells].some((cell) => cell.dataset.key && !cell.querySelector("button"))).map(name),
    };
  },

  paper: (least) => {
    const seen = (each) => each.getClientRects().length > 0;
    const short = (each) => each.textContent.replace(/\s+/g, " ").trim().slice(0, 60);
    const boards = [...document.querySelectorAll("table.board")].filter(seen);
    const small = boards.flatMap((table) => {
      const found = [];
      const walker = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const within = walker.currentNode.parentElement;
        const size = parseFloat(getComputedStyle(within).fontSize);
        if (walker.currentNode.data.trim() && seen(within) && size < least - 0.01) {
          found.push(size + " px: " + short(within));
        }
      }
      return found;
    });
    const isNamed = [...document.querySelectorAll(".on-paper")].some(
      (each) => seen(each) && /aggregates\.parquet/.test(each.textContent));
    return {
      beyond: [...document.querySelectorAll("th, td")]
        .filter((each) => seen(each) && each.getBoundingClientRect().right > innerWidth + 1).map(short),
      small: small.slice(0, 5),
      faded: [...document.querySelectorAll(".ci i, .bar > *, .swatch, .mini i, .heat td")]
        .filter((each) => seen(each) && getComputedStyle(each).printColorAdjust !== "exact").map(short).slice(0, 5),
      torn: [...document.querySelectorAll("tr, figure")]
        .filter((each) => seen(each) && getComputedStyle(each).breakInside !== "avoid").map(short).slice(0, 5),
      unnamed: boards.length && document.querySelector(".more") && !isNamed ? ["what paper leaves out is not named"] : [],
    };
  },

  moving: () => [...document.querySelectorAll("*")].filter((each) => {
    const style = getComputedStyle(each);
    const takes = (list) => list.split(",").some((one) => parseFloat(one) > 0);
    return takes(style.transitionDuration) || (style.animationName !== "none" && takes(style.animationDuration))
      || style.scrollBehavior === "smooth";
  }).map((each) => each.tagName + "." + each.className).slice(0, 5),

  // Inputs that are drawn by the element behind them, which forced colours rob of its background.
  unmarked: () => [...document.querySelectorAll("input:checked")].filter((each) => each.getClientRects().length
    && getComputedStyle(each).opacity === "0" && getComputedStyle(each.nextElementSibling).outlineStyle === "none"
  ).map((each) => each.name + "=" + each.value),

  without: () => {
    const seen = (each) => each.getClientRects().length > 0;
    const short = (each) => each.textContent.replace(/\s+/g, " ").trim().slice(0, 60);
    // A table that scripts fill is for those who have them; one with rows in it is for everybody.
    const isEmpty = (each) => each.tagName === "TR" && each.closest(".needs-js") && !each.closest("table").querySelector("td");
    return [...document.querySelectorAll("table tr, svg[role=img]")]
      .filter((each) => !seen(each) && !isEmpty(each)).map(short)
      .concat([...document.querySelectorAll("button, input, select")].filter(seen).map((each) => "dead: " + short(each)));
  },

  // One control of each name, with its place among all: of a group of radio buttons one that is not chosen.
  controls: () => {
    const firsts = {};
    document.querySelectorAll("main input, main select, main th button").forEach((each, place) => {
      const kind = each.tagName === "BUTTON" ? "button" : each.type;
      const isSet = (kind === "radio" && each.checked) || (kind === "select-one" && each.options.length < 2);
      const isOther = kind === "button" && (!each.closest("th[data-key]") || each.closest("th").ariaSort);
      const name = kind === "button" ? "sort" : kind + " " + (each.closest("td") ? "of a row" : each.name || each.dataset.control || each.id || place);
      // What only helps to find a choice is gone with the page.
      const isPassing = "passing" in each.dataset;
      if (each.getClientRects().length && !each.disabled && !isPassing && !isSet && !isOther && !(name in firsts)) {
        firsts[name] = place;
      }
    });
    return firsts;
  },

  set: (place) => {
    const each = document.querySelectorAll("main input, main select, main th button")[place];
    if (each.tagName === "BUTTON" || each.type === "radio" || each.type === "checkbox") {
      each.click();
      return {};
    }
    if (each.tagName === "SELECT") {
      const last = each.options.length - 1;
      each.selectedIndex = each.selectedIndex === last ? 0 : last;
    } else {
      each.value = each.type === "range" ? each.max : "an";
    }
    ["input", "change"].forEach((name) => each.dispatchEvent(new Event(name, { bubbles: true })));
    return {};
  },

  // All that is read and set on the page, but for what a live region says of the last change.
  shown: () => {
    const seen = (each) => each.getClientRects().length > 0;
    const quiet = (each) => !each.closest("[role=status], [aria-live], noscript");
    return {
      text: [...document.querySelectorAll("main *")].filter((each) => seen(each) && quiet(each)).flatMap((each) =>
        [...each.childNodes].filter((one) => one.nodeType === 3 && one.data.trim()).map((one) => one.data.trim())),
      set: [...document.querySelectorAll("main input, main select")].filter(seen)
        .map((each) => (/radio|checkbox/.test(each.type) ? each.checked : each.value)),
      sorted: [...document.querySelectorAll("th[aria-sort]")].filter(seen)
        .map((each) => each.dataset.key + " " + each.ariaSort),
    };
  },

  // The tables of each protocol, and what is said around them, as the template makes them.
  template: () => Object.fromEntries([...document.querySelectorAll("section.protocol")].map((section) => {
    const tables = [...section.querySelectorAll("table[data-main], table[data-heat]")].map((table) => {
      const copy = table.cloneNode(true), walk = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT), blank = [];
      while (walk.nextNode()) {
        walk.currentNode.data = walk.currentNode.data.replace(/\s+/g, " ");
        if (!walk.currentNode.data.trim() && /^(TABLE|THEAD|TBODY|TR)$/.test(walk.currentNode.parentNode.tagName)) {
          blank.push(walk.currentNode);
        }
      }
      blank.forEach((each) => each.remove());
      copy.normalize();
      return copy.outerHTML;
    });
    const around = [...section.querySelectorAll(".verdict, .marks-said, [data-metric-title]")];
    const words = around.map((each) => (each.hidden ? "hidden " : "") + each.textContent.trim());
    return [section.dataset.protocol, [...tables, ...words]];
  })),

  // The colours that a style sheet's rules set in the page's scheme, by selector: of text with its background, of text
  // alone, of backgrounds alone; and custom properties with names of a pattern.
  colours: (css, pattern) => {
    const sheet = new CSSStyleSheet(), both = {}, texts = {}, grounds = {}, named = {};
    sheet.replaceSync(css);
    const probe = document.body.appendChild(document.createElement("i"));
    const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const resolved = (property, value) => {
      probe.style.cssText = "";
      probe.style.setProperty(property, value);
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = getComputedStyle(probe)[property === "color" ? "color" : "backgroundColor"];
      pen.fillRect(0, 0, 1, 1);
      return [...pen.getImageData(0, 0, 1, 1).data];
    };
    const walk = (rules) => [...rules].flatMap((rule) => (rule.selectorText ? [rule] : walk(rule.cssRules || [])));
    for (const rule of walk(sheet.cssRules)) {
      const declared = (name) => rule.style.getPropertyValue(name);
      const background = declared("background") || declared("background-color");
      const text = declared("color") && resolved("color", declared("color"));
      const ground = background && resolved("background", background);
      for (const selector of rule.selectorText.split(/,\s*(?![^(]*\))/)) {
        if (text && !declared("background")) texts[selector] = text;
        if (ground && ground[3] === 255) (text ? both : grounds)[selector] = text ? [text, ground] : ground;
      }
      for (const name of [...rule.style].filter((each) => each.match(pattern))) {
        named[name] = resolved("color", `var(${name})`);
      }
    }
    probe.remove();
    return { both, texts, grounds, named };
  },
})

// A figure as PNG, drawn on demand by the browser from the picture in the page, in its colours and at twice its size.
(function () {
  "use strict";
  const SCALE = 2;

  function picture(svg) {
    const copy = svg.cloneNode(true);
    const marks = svg.querySelectorAll("*");
    const box = svg.viewBox.baseVal;
    const page = getComputedStyle(document.body);
    copy.querySelectorAll("*").forEach((mark, place) => ["fill", "stroke"].forEach((name) => mark.setAttribute(name, getComputedStyle(marks[place])[name])));
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", box.width * SCALE);
    copy.setAttribute("height", box.height * SCALE);
    copy.setAttribute("style", "background:" + page.backgroundColor + ";font-family:" + page.fontFamily.replace(/"/g, "'"));
    return "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
  }

  document.querySelectorAll("figure").forEach((figure) => {
    const svg = figure.querySelector(".chart svg");
    const vector = figure.querySelector(".downloads a");
    if (!svg || !vector) return;
    const link = vector.cloneNode();
    link.textContent = "PNG";
    link.setAttribute("aria-label", vector.getAttribute("aria-label").replace("SVG", "PNG"));
    link.setAttribute("download", vector.getAttribute("href").split("/").pop().replace(/svg$/, "png"));
    link.addEventListener("click", (event) => {
      if (link.href.startsWith("data:")) return;
      event.preventDefault();
      const image = new Image();
      image.addEventListener("load", () => {
        const canvas = document.createElement("canvas");
        canvas.width = image.width;
        canvas.height = image.height;
        canvas.getContext("2d").drawImage(image, 0, 0);
        link.href = canvas.toDataURL("image/png");
        link.click();
      });
      image.src = picture(svg);
    });
    figure.querySelector(".downloads").append(" ", link);
  });
})();

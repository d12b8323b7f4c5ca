// Loads data that are not in the page, from scripts that pass a value under a name. Scripts can be loaded from a local
// folder as well as from a host; `fetch` works only with a host.
(function () {
  "use strict";
  var given = {};
  var waiting = {};
  var HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu;

  window.goldspan = Object.assign(window.goldspan || {}, {
    // Called by data files.
    give: function (name, value) { given[name] = value; },

    // The value of that name from a file of the site; the path is relative to this page.
    load: function (path, name) {
      waiting[path] = waiting[path] || new Promise(function (done, failed) {
        var script = document.createElement("script");
        script.src = path;
        script.onload = done;
        script.onerror = function () {
          waiting[path] = null;
          failed(new Error("cannot load " + path));
        };
        document.head.appendChild(script);
      });
      return waiting[path].then(function () { return given[name]; });
    },

    // The text with hidden characters as escapes (`\\u{202E}`), as by `lake.text.escaped`.
    visible: function (text) {
      return String(text).replace(HIDDEN, function (each) { return "\\u{" + each.codePointAt(0).toString(16).toUpperCase() + "}"; });
    },

    // The text in parts, with a `<wbr>` after punctuation, as by the templates' filter of this name.
    breakable: function (text) {
      const parts = goldspan.visible(text).replace(/([-_./+])(?=[^-_./+])/g, "$1\0").split("\0");
      return parts.flatMap(function (part, place) { return place ? [document.createElement("wbr"), part] : [part]; });
    },

    // The value of packed JSON.
    parse: function (text) {
      return goldspan.unpack(text).then(function (bytes) { return JSON.parse(new TextDecoder().decode(bytes)); });
    },

    // The bytes of packed text: base64 of deflated data in zlib's format.
    unpack: function (text) {
      var packed = atob(text);
      var raw = new Uint8Array(packed.length);
      for (var i = 0; i < packed.length; i++) { raw[i] = packed.charCodeAt(i); }
      var stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
      return new Response(stream).arrayBuffer().then(function (buffer) { return new Uint8Array(buffer); });
    }
  });
})();

// Loads data that a page does not carry: a file in a script of ours that gives it under a name. Scripts load from files
// and from hosts alike, where `fetch` works from hosts alone.
(function () {
  "use strict";
  var given = {};
  var waiting = {};
  var HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu;

  window.goldspan = Object.assign(window.goldspan || {}, {
    // A data file calls this.
    give: function (name, value) { given[name] = value; },

    // The value of that name from a file of the site; the path is as a link on this page would have it.
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

    // The text with every hidden character, which a page might obey, as `\\u{202E}`; as `lake.text.escaped` has it.
    visible: function (text) {
      return String(text).replace(HIDDEN, function (each) { return "\\u{" + each.codePointAt(0).toString(16).toUpperCase() + "}"; });
    },

    // The text in parts, with a place to break after each mark, as the templates have it.
    breakable: function (text) {
      const parts = goldspan.visible(text).replace(/([-_./+])(?=[^-_./+])/g, "$1\0").split("\0");
      return parts.flatMap(function (part, place) { return place ? [document.createElement("wbr"), part] : [part]; });
    },

    // A value out of text: JSON, packed.
    parse: function (text) {
      return goldspan.unpack(text).then(function (bytes) { return JSON.parse(new TextDecoder().decode(bytes)); });
    },

    // Bytes out of text: deflated (zlib's form), then base64.
    unpack: function (text) {
      var packed = atob(text);
      var raw = new Uint8Array(packed.length);
      for (var i = 0; i < packed.length; i++) { raw[i] = packed.charCodeAt(i); }
      var stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
      return new Response(stream).arrayBuffer().then(function (buffer) { return new Uint8Array(buffer); });
    }
  });
})();

// Loads data that a page does not carry: a file in a script of ours that gives it under a name. Scripts load from files
// and from hosts alike, where `fetch` works from hosts alone.
(function () {
  "use strict";
  var given = {};
  var waiting = {};

  window.goldspan = {
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

    // Bytes out of text: deflated (zlib's form), then base64.
    unpack: function (text) {
      var raw = Uint8Array.from(atob(text), function (each) { return each.charCodeAt(0); });
      var stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
      return new Response(stream).arrayBuffer().then(function (buffer) { return new Uint8Array(buffer); });
    }
  };
})();

"""`python -m report build`, `serve`, `list`, `export` and `publish`: the lake as a site, and as files for others."""

import errno
import io
import shlex
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, BinaryIO
from urllib.parse import urlsplit

import typer
from rich.filesize import decimal

from lake.benchmarks import protocols_called
from lake.console import (
    DEFAULT_LAKE,
    Console,
    FormatOption,
    JsonOption,
    LakeOption,
    QuietOption,
    print_listing,
    setting,
    split_names,
    split_systems,
)
from lake.errors import Exit, GoldspanError, lookup, refusal_of, typed
from lake.outcome import Outcome
from lake.parts import PartCounts, check_whole
from lake.store import Lake
from lake.text import counted, listed
from report.build import build, publishers
from report.editions import EDITIONS, LakeWithEditions
from report.folder import MANIFEST, Manifest, manifest_in
from report.items.licences import ItemText

DEFAULT_SITE = Path("site/public")

app = typer.Typer()
SiteOption = Annotated[Path, setting("SITE", "Output folder.")]


@app.command("build")
def _build(
    lake: LakeOption = DEFAULT_LAKE,
    site: SiteOption = DEFAULT_SITE,
    since: Annotated[Path | None, setting("SINCE", "Earlier site or manifest to show changes since.")] = None,
    url: Annotated[str, setting("URL", "Address where the site will be published.")] = "",
    item_text: Annotated[
        ItemText | None,
        setting("ITEM_TEXT", "Items to show as text, if their licence permits it. Without this and --url: all items."),
    ] = None,
    published: Annotated[str, setting("PUBLISHED", "Folder of published results to add to the site, or none.")] = str(
        EDITIONS
    ),
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Build the site from the lake; `python -m report` alone does this."""
    console = Console(quiet=quiet, json=json)
    if published != "none" and not Path(published).is_dir():
        message = f"--published: there is no folder {published}"
        raise GoldspanError(message, hint="Give a folder of editions, or none.", code=Exit.MISSING)
    store = Lake(lake) if published == "none" else LakeWithEditions(lake, Path(published))
    check_whole(lake)
    earlier = _earlier(since / MANIFEST if since.is_dir() else since) if since else None
    built = build(store, site, earlier, _address(url), item_text)
    files = built.manifest.files
    n_pages = sum(name.endswith(".html") for name in files)
    outcome = Outcome(
        written=str(site), expected=n_pages, scored=n_pages, unit="pages", parts="files", hint="make serve"
    )
    outcome.tally = PartCounts(current=set(files)) if built.is_current else PartCounts(made=set(files))
    n_bytes = decimal(sum(file.bytes for file in files.values()))
    outcome.warnings.append(f"{counted(len(files), 'file')}, {n_bytes}; open {site / 'index.html'}")
    raise typer.Exit(console.finish("report", outcome))


def _address(url: str) -> str:
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment):
        message = "--url is not a web address"
        raise GoldspanError(message, where=url, hint="Give one as https://example.org/goldspan/", code=Exit.USAGE)
    return f"{url.rstrip('/')}/" if url else ""


def _earlier(file: Path) -> Manifest:
    try:
        return manifest_in(file)
    except (OSError, ValueError) as error:
        code = Exit.MISSING if isinstance(error, OSError) else Exit.INVALID
        what = f"--since cannot be read: {refusal_of(error) or str(error).splitlines()[0]}"
        hint = f"Give an earlier site of Goldspan or its {MANIFEST}; the first build needs no --since."
        raise GoldspanError(what, where=str(file), hint=hint, code=code) from error


HOST = "127.0.0.1"


class _Handler(SimpleHTTPRequestHandler):
    def send_head(self) -> io.BytesIO | BinaryIO | None:
        try:
            return super().send_head()
        except ValueError:
            # No file can have a name with a null byte or half a surrogate pair.
            self.send_error(HTTPStatus.NOT_FOUND)
            return None


def server_of(site: Path, port: int) -> ThreadingHTTPServer:
    """A server of a site on this machine only, not started; raises GoldspanError if site or port are not available."""
    if not (site / "index.html").is_file():
        raise GoldspanError(f"there is no site in {site}", hint="Build it first: make report", code=Exit.MISSING)
    try:
        return ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(site)))
    except OSError as error:
        is_busy = error.errno == errno.EADDRINUSE
        message = f"port {port} {'is in use' if is_busy else f'cannot be used: {error.strerror}'}"
        raise GoldspanError(message, hint="Choose another: make serve PORT=8001") from error


@app.command()
def serve(
    site: SiteOption = DEFAULT_SITE,
    port: Annotated[int, setting("PORT", "Port.", min=0, max=65535)] = 8000,
) -> None:
    """Serve the site over HTTP on this machine only."""
    with server_of(site, port) as server:
        Console().say(f"http://{HOST}:{server.server_port}/ shows {site}; press Ctrl-C to stop")
        server.serve_forever()


@app.command("list")
def _list(
    what: Annotated[str, typer.Argument(help="pages or formats.")] = "pages",
    format: FormatOption = "",  # noqa: A002  # the flag's own name
) -> None:
    """List the kinds of pages, or the formats of exports."""
    from report.exports import FORMATS

    listings: dict[str, list[dict[str, object]]] = {
        "pages": [{"name": kind.name, "meaning": kind.meaning} for kind in publishers()],
        "formats": [{"name": name, "of": format_.of, "meaning": format_.meaning} for name, format_ in FORMATS.items()],
    }
    print_listing(lookup(what, "listing", listings), format)


@app.command("export")
def _export(
    run_id: Annotated[
        str | None, typer.Argument(metavar="RUN", help="Run id, or a system with one run (default: the boards).")
    ] = None,
    format: Annotated[  # noqa: A002  # the flag's own name
        str, typer.Option("--format", help="Format, as in `python -m report list formats`.")
    ] = "csv",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Output file (default: stdout).")] = None,
    table: Annotated[str, typer.Option(help="Which table of the run: ranking or scores.")] = "ranking",
    benchmark: Annotated[str, typer.Option(help="Only this benchmark's boards.")] = "",
    protocol: Annotated[str, typer.Option(help="Only this protocol's board.")] = "",
    slice: Annotated[str, typer.Option(help="Slice, such as repo=acme/one (default: the headline's).")] = "",  # noqa: A002  # the flag's own name
    metrics: Annotated[str, typer.Option(help="Comma list, with or without cut-off.")] = "",
    systems: Annotated[str, typer.Option(help="Comma list, globs allowed.")] = "",
    top: Annotated[int | None, typer.Option(min=1, help="At most the N best systems of a board.")] = None,
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """Export the leaderboards, or a run's ranking or scores, for other tools."""
    from report.exports import Choice, export

    # Editions contain only the tops of rankings, so only the lake's own runs are exported.
    store = Lake(lake)
    meant = [each.name for each in protocols_called(store, protocol, benchmark)] if protocol else [""]
    if len(meant) > 1:
        raise GoldspanError(f"--protocol {protocol} means {listed(meant)}", hint="Name one of them.", code=Exit.USAGE)
    choice = Choice(benchmark, meant[0], slice, tuple(split_names(metrics)), tuple(split_systems(systems, store)), top)
    check_whole(lake)
    written = export(store, run_id, format, output, table, choice)
    if output is not None:
        Console().say(f"wrote {written}")


@app.command("publish")
def _publish(
    benchmark: Annotated[str, typer.Argument(help="Benchmark whose results are published.")],
    edition: Annotated[str, typer.Option(help="Name of the edition, such as function or mined.")],
    label: Annotated[str, typer.Option(help="Title of the edition on pages (default: its name).")] = "",
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of editions.")] = EDITIONS,
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """Publish a benchmark's results, without its texts, so that every site shows them."""
    from report.publishing import publish

    store = Lake(lake)
    check_whole(lake)
    written = publish(store, benchmark, edition, label or edition, output)
    n_bytes = sum(file.stat().st_size for file in written.iterdir())
    # PUBLISHED need not be given for the default folder of editions.
    chosen = "" if output.resolve() == EDITIONS.resolve() else f" PUBLISHED={shlex.quote(str(output))}"
    Console().say(typed(f"wrote {written}: {decimal(n_bytes)}; next: make report{chosen}"))

"""Build the site (downloads, pages, static files, manifest), unless its inputs have not changed."""

from __future__ import annotations

import json
import shutil
import tomllib
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lake.errors import GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file
from lake.store import Lake
from lake.tables import TABLES
from report.folder import CHECKOUT, MANIFEST, Manifest, SiteFile, add_file, building, changes_since, current, numbers_of
from report.items.licences import ItemText

if TYPE_CHECKING:
    from report.publisher import Publisher

_LIBRARIES = ("jinja2", "markupsafe", "polars", "pygments", "vl-convert-python")
_ID_LENGTH = 12
_WORKERS = 3  # threads: two soon wait for the pictures of the overview and the leaderboards, one goes on

# Tables that pages can show. Without blobs and symbols, which the other stages need, and without costs: they are
# measured, so they differ between lakes that are otherwise equal.
_READ = tuple(name for name in TABLES if name not in {"blobs", "symbols", "costs"})


class Built(NamedTuple):
    """The result of a build: the site's manifest, and whether the site was already current and so left unchanged."""

    manifest: Manifest
    is_current: bool


def publishers() -> list[Publisher]:
    """The publishers of all kinds of pages, in the order of the navigation."""
    import report.pages
    from lake.declarations import discover
    from report.publisher import Publisher

    return sorted(discover(report.pages, Publisher).values(), key=lambda publisher: (publisher.order, publisher.name))


def build(
    lake: Lake, root: Path, since: Manifest | None = None, url: str = "", item_text: ItemText | None = None
) -> Built:
    """Build the site in `root` unless it is current; GoldspanError if the lake is empty or changes meanwhile."""
    lake_id, costs = lake_state(lake)
    made_from = fingerprint(lake_id, code_state(), since.text() if since else "", url, item_text or "")
    if stored := current(root, made_from, costs):
        return Built(stored, is_current=True)
    manifest = Manifest(generator="goldspan report", format=1, fingerprint=made_from, lake=lake_id, costs=costs)
    with building(root) as new:
        _write(lake, root, new, manifest, since, url, item_text)
        (new / MANIFEST).write_text(manifest.text(), encoding="utf-8")
        if lake_state(lake) != (lake_id, costs):
            message = "the lake changed while the site was being built; the earlier site is unchanged"
            hint = "Run the same command again when the other stage is done."
            raise GoldspanError(message, where=str(lake.root), hint=hint)
    return Built(manifest, is_current=False)


def lake_state(lake: Lake) -> tuple[str, str]:
    """Fingerprints of all tables the pages show except costs, and of these, which differ between equal lakes."""
    return fingerprint(lake.state(*_READ)), fingerprint([sha256_of_file(part.path) for part in lake.parts("costs")])


def code_state() -> str:
    """A fingerprint of the code and libraries that build the site, and of the files it shows or copies."""
    sources = [*CHECKOUT.joinpath("report").rglob("*.py"), *CHECKOUT.joinpath("lake").rglob("*.py")]
    sources += [path for top in ("templates", "static", "recipes") for path in (CHECKOUT / "site" / top).rglob("*")]
    sources += [CHECKOUT / "pyproject.toml", *(CHECKOUT / ".github" / "workflows").glob("*.yml")]
    files = {path.relative_to(CHECKOUT).as_posix(): sha256_of_file(path) for path in sources if path.is_file()}
    return fingerprint(files, {name: version(name) for name in _LIBRARIES})


def _write(
    lake: Lake, root: Path, new: Path, manifest: Manifest, since: Manifest | None, url: str, item_text: ItemText | None
) -> None:
    """Write the site into the folder `new`, and what it has into its manifest."""
    # Imported here so that a skipped build returns at once, and below after drawing has begun, which takes longer.
    from report.charts.figures import FIGURES, draw, drawing

    with drawing(new) as artist, ThreadPoolExecutor(_WORKERS) as workers:
        from report.downloads import write_downloads
        from report.kept_pages import keep_pages
        from report.publisher import SiteMaterial
        from report.render import render

        about = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        about["name"] = about["name"].capitalize()
        metadata = {"goldspan.lake": manifest.lake, "goldspan.version": about["version"]}
        # The process that draws has nothing to do until the first boards are read here.
        downloaded = artist.submit(write_downloads, lake, new, metadata)
        material = SiteMaterial(lake, downloaded, about, item_text, is_local=not url and item_text is None)
        shutil.copytree(CHECKOUT / "site" / "static", new / "static")
        numbers = numbers_of(material.every_board)
        manifest.numbers = dict(sorted(numbers.items()))
        changes = changes_since(since, numbers, material.downloads) if since else None
        if changes is not None:
            add_file(new, "changes.json", json.dumps(changes, indent=1, ensure_ascii=False).encode() + b"\n")
        kinds = publishers()
        entries = [entry for kind in kinds for entry in kind.entries(material)]
        shared = {"navigation": entries, "project": about, "url": url}
        ids = {"lake_id": manifest.lake[:_ID_LENGTH], "build_id": manifest.fingerprint[:_ID_LENGTH]}
        frame = {**shared, **ids, "changes": changes, "system_paths": material.system_paths}
        manifest.editions = keep_pages(material, root, new, ids, (code_state(), item_text, shared))

        def publish(kind: Publisher) -> list[Future[str]]:
            """Write the pages of a kind and their data; return their shared pictures, which may not be drawn yet."""
            pictures = []
            for page in kind.pages(material):
                for path, content in page.files.items():
                    add_file(new, path, content)
                # A page without a description has that of its kind.
                description = page.description or kind.meaning
                # Link previews need the picture's absolute address, so there is none without `url`.
                picture = f"{FIGURES}/shared/{page.path.removesuffix('.html')}.png" if url else ""
                if picture:
                    pictures.append(draw("drawing.write_shared_picture", new / picture, page.title, description))
                own = {"path": page.path, "title": page.title, "said": description, "picture": picture}
                values = {**frame, **page.values, **own, "root": "../" * page.path.count("/")}
                add_file(new, page.path, render(page.template, values).encode())
            return pictures

        for pictures in workers.map(publish, kinds):
            for written in pictures:
                written.result()
        # The process that draws ends while the files are hashed.
        artist.shutdown(wait=False)
        rows = {stored.path: stored.n_rows for stored in material.downloads}
        paths = {path.relative_to(new).as_posix(): path for path in sorted(new.rglob("*")) if path.is_file()}
        manifest.files = {
            name: SiteFile(bytes=path.stat().st_size, sha256=sha256, rows=rows.get(name))
            for (name, path), sha256 in zip(paths.items(), workers.map(sha256_of_file, paths.values()), strict=True)
        }

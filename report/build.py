"""Build the site: downloads, pages, static files and the manifest, unless what it is made from has not changed."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from lake.errors import GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file
from lake.store import Lake
from lake.tables import TABLES
from lake.text import counted
from report.folder import MANIFEST, File, Manifest, SiteFolder
from report.items.licences import ItemText

if TYPE_CHECKING:
    from report.publisher import Page, Publisher

CHECKOUT = Path(__file__).parent.parent
STATIC = CHECKOUT / "site" / "static"
_LIBRARIES = ("altair", "jinja2", "markupsafe", "polars", "pygments", "vl-convert-python")
_ID_LENGTH = 12
# What a page can show; contents are for the other stages, and costs are measured: two lakes that are alike in all else
# differ in them.
_READ = tuple(name for name in TABLES if name not in {"blobs", "symbols", "costs"})


@dataclass(frozen=True)
class Built:
    """What a build did: the site's files with facts, among them `bytes`; or that it is current, and left alone."""

    files: Mapping[str, File]
    is_current: bool


def project() -> dict[str, str]:
    """The project as pyproject.toml describes it."""
    described = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {**described, "name": described["name"].capitalize()}


def publishers() -> list[Publisher]:
    """Every kind of page, in the navigation's order."""
    import report.pages
    from lake.declarations import discover
    from report.publisher import Publisher

    return sorted(discover(report.pages, Publisher).values(), key=lambda publisher: (publisher.order, publisher.name))


def build(
    lake: Lake,
    root: Path,
    say: Callable[[str], None] = lambda _: None,
    since: Manifest | None = None,
    url: str = "",
    item_text: ItemText | None = None,
) -> Built:
    """Make the site, or leave it where it is current; `since` is an earlier site's manifest.

    Raises:
        GoldspanError: The lake is empty or changes meanwhile, or the folder holds something else.
    """
    folder = SiteFolder(root)
    folder.check()
    lake_id, costs = lake_state(lake), costs_state(lake)
    made_from = fingerprint(lake_id, code_state(), since.text() if since else "", url, item_text or "")
    if stored := folder.current(made_from, costs):
        return Built(stored.files, is_current=True)
    with folder.building() as new:
        manifest = _write(lake, new, Manifest(made_from, lake_id, costs, {}, {}), say, since, url, item_text)
        (new / MANIFEST).write_text(manifest.text(), encoding="utf-8")
        if (lake_state(lake), costs_state(lake)) != (lake_id, costs):
            message = "the lake changed while the site was being built; the site before it still stands"
            hint = "Run the same command again when the other stage is done."
            raise GoldspanError(message, where=str(lake.root), hint=hint)
    return Built(manifest.files, is_current=False)


def lake_state(lake: Lake) -> str:
    """A fingerprint of everything the pages may show but for costs: lakes made alike have the same."""
    return fingerprint(lake.state(*_READ))


def costs_state(lake: Lake) -> str:
    """A fingerprint of the measured costs, by their content: the parts of two runs that were made alike differ."""
    return fingerprint([sha256_of_file(part.path) for part in lake.parts("costs")])


def code_state() -> str:
    """A fingerprint of the files that turn a lake into a site, and of those that are shown or copied."""
    sources = [path for top in ("report", "lake") for path in CHECKOUT.joinpath(top).rglob("*.py")]
    sources += [
        path for top in ("templates", "static", "recipes") for path in CHECKOUT.joinpath("site", top).rglob("*")
    ]
    sources += [CHECKOUT / "pyproject.toml", *(CHECKOUT / ".github" / "workflows").glob("*.yml")]
    files = {path.relative_to(CHECKOUT).as_posix(): sha256_of_file(path) for path in sources if path.is_file()}
    return fingerprint(files, {name: version(name) for name in _LIBRARIES})


def _write(
    lake: Lake,
    new: Path,
    made_from: Manifest,
    say: Callable[[str], None],
    since: Manifest | None,
    url: str,
    item_text: ItemText | None,
) -> Manifest:
    # Loaded here, so that a build that is skipped answers at once.
    from lake.engine import Engine
    from report.changes import PATH, changes_since, numbers_of
    from report.charts.figures import FOLDER, write_figure, write_shared_picture
    from report.charts.kinds import drawing_in
    from report.downloads import write_downloads
    from report.publisher import Material
    from report.render import render
    from report.tables_read import TablesRead

    # Parquet is written, and pictures are drawn by another process, while pages are worked out.
    with ThreadPoolExecutor(1) as helper, Engine(1).executor() as artist, drawing_in(artist):
        about = project()
        metadata = {"goldspan.lake": made_from.lake, "goldspan.version": about["version"]}
        downloaded = helper.submit(write_downloads, lake, new, metadata)
        material = Material(TablesRead(lake), downloaded, about, item_text, is_local=not url and item_text is None)
        shutil.copytree(STATIC, new / "static")
        numbers = numbers_of(material.every_board)
        changes = changes_since(since, numbers, material.downloads) if since else None
        if changes is not None:
            _new_file(new, PATH).write_text(json.dumps(changes, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        kinds = publishers()
        frame = {
            "navigation": [entry for kind in kinds for entry in kind.entries(material.facts)],
            "project": about,
            "lake_id": made_from.lake[:_ID_LENGTH],
            "system_paths": material.facts.system_paths,
            "build_id": made_from.fingerprint[:_ID_LENGTH],
            "changes": changes,
            "url": url,
        }
        pictures: list[Future[None]] = []
        waiting: list[tuple[Page, dict[str, object]]] = []

        def finish(page: Page, values: dict[str, object]) -> None:
            _new_file(new, page.path).write_bytes(render(page.template, values).encode())
            for figure in page.figures:
                shown = (str(figure.picture), figure.title, figure.population, figure.numbers)
                pictures.append(artist.submit(write_figure, new / FOLDER / figure.name, *shown))

        for of_kind, page in ((kind, page) for kind in kinds for page in kind.pages(material)):
            # A page that concludes nothing says what its kind is for.
            description = page.description or of_kind.meaning
            # Whoever shows a picture of a shared page asks for it by its whole address.
            picture = f"{FOLDER}/shared/{page.path.removesuffix('.html')}.png" if url else ""
            if picture:
                shared = _new_file(new, picture)
                pictures.append(artist.submit(write_shared_picture, shared, page.title, description))
            for path, content in page.files.items():
                _new_file(new, path).write_bytes(content)
            own = {"path": page.path, "title": page.title, "said": description, "picture": picture}
            values = {**frame, **page.values, **own, "root": "../" * page.path.count("/")}
            waiting.append((replace(page, files={}), values))
            for each in [each for each in waiting if all(figure.picture.is_drawn for figure in each[0].figures)]:
                waiting.remove(each)
                finish(*each)
        for each in waiting:
            finish(*each)
        for written in pictures:
            written.result()
        downloads = material.downloads
        say(f"{counted(len(downloads), 'download')} written")
    rows = {stored.path: stored.n_rows for stored in downloads}
    paths = {path.relative_to(new).as_posix(): path for path in sorted(new.rglob("*")) if path.is_file()}
    files = {name: File(path.stat().st_size, sha256_of_file(path), rows.get(name)) for name, path in paths.items()}
    return replace(made_from, files=files, numbers=dict(sorted(numbers.items())))


def _new_file(new: Path, path: str) -> Path:
    """Where a file of the site is to lie; no two have one place."""
    to = new / path
    if to.exists():
        message = f"two pages want the path {path!r}"
        raise GoldspanError(message, hint="Two benchmarks' names are alike but for their punctuation; rename one.")
    to.parent.mkdir(parents=True, exist_ok=True)
    return to

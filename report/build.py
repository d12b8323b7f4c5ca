"""Build the site: downloads, pages, static files and the manifest, unless what it is made from has not changed."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from lake.errors import GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file
from lake.store import Lake
from lake.tables import TABLES
from lake.text import counted
from report.folder import MANIFEST, Manifest, SiteFolder
from report.items.asked import ItemText

if TYPE_CHECKING:
    from report.publisher import Page, Project, Publisher

CHECKOUT = Path(__file__).parent.parent
STATIC = CHECKOUT / "site" / "static"
_LIBRARIES = ("altair", "jinja2", "markupsafe", "polars", "pygments", "vl-convert-python")
_ID_LENGTH = 12
# What a page can show; contents are for the other stages, and costs are measured: two lakes that are alike in all else
# differ in them.
_READ = tuple(name for name in TABLES if name not in {"blobs", "symbols", "costs"})


@dataclass(frozen=True)
class Built:
    """What a build did.

    Attributes:
        pages: The pages' paths.
        files: The site's files.
        n_bytes: Their size together.
        is_current: Whether the site was made from the same before, and left alone.
    """

    pages: Sequence[str]
    files: Sequence[str]
    n_bytes: int
    is_current: bool


def project() -> Project:
    """The project as pyproject.toml describes it."""
    from report.publisher import Project

    said = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return Project(said["name"].capitalize(), said["version"], said["description"], said["license"])


def publishers() -> list[Publisher]:
    """Every kind of page, in the navigation's order."""
    import report.pages
    from lake.declarations import discover
    from report.publisher import Publisher

    return sorted(discover(report.pages, Publisher).values(), key=lambda found: (found.order, found.name))


def build(
    lake: Lake,
    root: Path,
    say: Callable[[str], None] = lambda _: None,
    since: Manifest | None = None,
    url: str = "",
    item_text: ItemText = ItemText.NONE,
) -> Built:
    """Make the site, or leave it where it is current.

    With the manifest of an earlier site it says what changed since; with the address at which it will be published its
    pages say where they are, which is what shows their pictures to those who share them.

    Raises:
        GoldspanError: The lake is empty or changes meanwhile, or the folder holds something else.
    """
    folder = SiteFolder(root)
    folder.check()
    lake_id, costs = lake_state(lake), costs_state(lake)
    made_from = fingerprint(lake_id, code_state(), since.text() if since else "", url, item_text.value)
    if folder.is_current(made_from, costs):
        stored = folder.manifest()
        return _built(stored, is_current=True)
    with folder.building() as new:
        manifest = _write(lake, new, lake_id, made_from, costs, say, since, url, item_text)
        if (lake_state(lake), costs_state(lake)) != (lake_id, costs):
            message = "the lake changed while the site was being built; the site before it still stands"
            hint = "Run the same command again when the other stage is done."
            raise GoldspanError(message, where=str(lake.root), hint=hint)
    return _built(manifest, is_current=False)


def lake_state(lake: Lake) -> str:
    """A fingerprint of everything the pages may show but for costs: lakes made alike have the same."""
    return fingerprint(lake.state(*_READ))


def costs_state(lake: Lake) -> str:
    """A fingerprint of the measured costs, by their content: the parts of two runs that were made alike differ."""
    return fingerprint([sha256_of_file(part.path) for part in lake.parts("costs")])


def code_state() -> str:
    """A fingerprint of what turns a lake into a site."""
    sources = [*(CHECKOUT / "report").rglob("*.py"), *(CHECKOUT / "site" / "templates").rglob("*"), *STATIC.rglob("*")]
    sources += [*(CHECKOUT / "site" / "recipes").glob("*"), *(CHECKOUT / ".github" / "workflows").glob("*.yml")]
    sources += [CHECKOUT / "pyproject.toml", *sorted((CHECKOUT / "lake" / "tables").glob("*.py"))]
    files = {path.relative_to(CHECKOUT).as_posix(): sha256_of_file(path) for path in sources if path.is_file()}
    return fingerprint(files, {name: version(name) for name in _LIBRARIES})


def _write(
    lake: Lake,
    new: Path,
    lake_id: str,
    made_from: str,
    costs: str,
    say: Callable[[str], None],
    since: Manifest | None,
    url: str,
    item_text: ItemText,
) -> Manifest:
    # Loaded here, so that a build that is skipped answers at once.
    from report.changes import PATH, changes_since, kept, numbers_of
    from report.downloads import write_downloads
    from report.facts import load
    from report.publisher import Material
    from report.sharing import with_picture

    facts = load(lake)
    about = project()
    said = {"goldspan.lake": lake_id, "goldspan.version": about.version}
    downloads = write_downloads(lake, new, said)
    say(f"{counted(len(downloads), 'download')} written")
    shutil.copytree(STATIC, new / "static")
    material = Material(lake, facts, downloads, about, item_text)
    numbers = numbers_of(material.every_board)
    changes = changes_since(since, numbers, downloads) if since else None
    if changes is not None:
        _new_file(new, PATH).write_bytes(changes.text())
    kinds = publishers()
    navigation = [entry for kind in kinds for entry in kind.entries(facts)]
    frame = {
        "navigation": navigation,
        "project": about,
        "lake_id": lake_id[:_ID_LENGTH],
        "system_paths": facts.system_paths,
        "build_id": made_from[:_ID_LENGTH],
        "changes": changes,
        "url": url,
    }
    # A page that concludes nothing says what its kind is for.
    pages = ((page, kind.meaning) for kind in kinds for page in kind.pages(material))
    for page in (with_picture(replace(page, said=page.said or meaning)) for page, meaning in pages):
        _write_page(new, page, frame)
        for path, content in page.files.items():
            _new_file(new, path).write_bytes(content)
    files = {
        path.relative_to(new).as_posix(): {"bytes": path.stat().st_size, "sha256": sha256_of_file(path)}
        for path in sorted(new.rglob("*"))
        if path.is_file()
    }
    rows = {stored.path: {"rows": stored.n_rows} for stored in downloads}
    manifest = Manifest(
        made_from,
        lake_id,
        costs,
        {name: {**rows.get(name, {}), **said} for name, said in files.items()},
        kept(numbers),
    )
    (new / MANIFEST).write_text(manifest.text(), encoding="utf-8")
    return manifest


def _write_page(new: Path, page: Page, frame: dict[str, object]) -> None:
    from report.render import render

    own = {"path": page.path, "title": page.title, "said": page.said, "picture": page.picture}
    html = render(page.template, {**frame, **page.values, **own, "root": "../" * page.path.count("/")})
    _new_file(new, page.path).write_text(html, encoding="utf-8", newline="\n")


def _new_file(new: Path, path: str) -> Path:
    """Where a file of the site is to lie; no two have one place."""
    to = new / path
    if to.exists():
        message = f"two pages want the path {path!r}"
        raise GoldspanError(message, hint="Two benchmarks' names are alike but for their punctuation; rename one.")
    to.parent.mkdir(parents=True, exist_ok=True)
    return to


def _built(manifest: Manifest | None, *, is_current: bool) -> Built:
    files = manifest.files if manifest else {}
    pages = [name for name in files if name.endswith(".html")]
    return Built(pages, list(files), sum(int(str(facts["bytes"])) for facts in files.values()), is_current)

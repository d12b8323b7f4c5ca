"""The pages of published editions, kept from the earlier site while all that they show is unchanged."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import polars as pl

from lake.fingerprint import fingerprint, sha256_of
from lake.tables import TABLES, table
from report.editions import LakeWithEditions
from report.folder import add_file, stored_manifest
from report.format import slug
from report.publisher import SiteMaterial

_SHARED = ("blobs", "chunkers", "metrics", "retrievers")
"""The tables whose rows of the lake, where it has them too, are shown in place of an edition's."""


def keep_pages(material: SiteMaterial, site: Path, new: Path, ids: Mapping[str, str], about: object) -> str:
    """Copy the editions' pages, with new `ids`, from an earlier site in whose build they showed the same, if any.

    Returns a fingerprint of all that they show, with what is `about` every page; empty without editions.
    """
    lake, benchmarks = material.lake, material.benchmarks
    if not isinstance(lake, LakeWithEditions) or not lake.editions:
        return ""
    shown: list[object] = [about, sorted((name, each.title) for name, each in benchmarks.items())]
    kept = {name for name, benchmark in benchmarks.items() if benchmark.is_edition}
    shown.append([(material.system_paths[run.system], str(run)) for run in material.runs if run.benchmark in kept])
    for name in _SHARED:
        key = list(table(name).key)
        files = [file for edition in lake.editions if (file := edition / f"{name}.parquet").is_file()]
        keys = [pl.scan_parquet(file, glob=False).select(key) for file in files]
        rows = lake.scan(name).join(pl.concat(keys), on=key, how="semi") if keys else pl.LazyFrame()
        # Where the lake has the text of a content, it has the starts of its lines too.
        shown.append(sorted(rows.drop("text", strict=False).collect().hash_rows()))
    state, stored = fingerprint(lake.shipped(*TABLES), shown), stored_manifest(site)
    if stored is None or stored.editions != state:
        return state
    slugs = set(map(slug, kept))
    paths = {name: PurePosixPath(name) for name in stored.files if not name.startswith(("data/", "systems/"))}
    mine = [name for name, path in paths.items() if slugs & {*path.parts, path.stem.removesuffix("-all")}]
    contents = {name: (site / name).read_bytes() for name in mine if (site / name).is_file()}
    if any(name not in contents or sha256_of(contents[name]) != stored.files[name].sha256 for name in mine):
        return state
    before = {"build_id": stored.fingerprint, "lake_id": stored.lake}
    for name, content in contents.items():
        if name.endswith(".html"):
            for id_name, new_id in ids.items():
                content = content.replace(before[id_name][: len(new_id)].encode(), new_id.encode())
        add_file(new, name, content)
    material.written_boards = {name: each for name, each in material.boards_of.items() if name not in kept}
    return state

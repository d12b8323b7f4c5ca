"""The pages of published editions, kept from the earlier site while all that they show is unchanged."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import polars as pl

from lake.fingerprint import fingerprint, sha256_of
from lake.tables import TABLES, table
from report.editions import LakeWithEditions
from report.folder import stored_manifest
from report.format import slug
from report.publisher import SiteMaterial

_SHARED = ("blobs", "chunkers", "metrics", "retrievers")
"""The tables whose rows of the lake, where it has them too, are shown in place of an edition's."""


def editions_state(material: SiteMaterial, *about: object) -> str:
    """A fingerprint of all that the pages of editions show, with what is `about` every page; empty without editions."""
    lake = material.lake
    if not isinstance(lake, LakeWithEditions) or not lake.editions:
        return ""
    shown: list[object] = [sorted((name, each.title) for name, each in material.benchmarks.items())]
    runs = [run for run in material.runs if material.benchmarks[run.benchmark].is_edition]
    shown.append([(material.system_paths[run.system], str(run)) for run in runs])
    for name in _SHARED:
        key = list(table(name).key)
        files = [file for edition in lake.editions if (file := edition / f"{name}.parquet").is_file()]
        keys = [pl.scan_parquet(file, glob=False).select(key) for file in files]
        rows = lake.scan(name).join(pl.concat(keys), on=key, how="semi") if keys else pl.LazyFrame()
        # Where the lake has the text of a content, it has the starts of its lines too.
        shown.append(sorted(rows.drop("text", strict=False).collect().hash_rows()))
    return fingerprint(lake.shipped(*TABLES), *about, shown)


def keep_pages(material: SiteMaterial, site: Path, new: Path, state: str, ids: Mapping[str, str]) -> bool:
    """Copy the editions' pages from an earlier site of this state, with new `ids`; False if there are none."""
    stored = stored_manifest(site)
    if stored is None or not state or stored.editions != state:
        return False
    slugs = {slug(name) for name, benchmark in material.benchmarks.items() if benchmark.is_edition}
    paths = {name: PurePosixPath(name) for name in stored.files if not name.startswith(("data/", "systems/"))}
    mine = [name for name, path in paths.items() if slugs & {*path.parts, path.stem.removesuffix("-all")}]
    contents = {name: (site / name).read_bytes() for name in mine if (site / name).is_file()}
    if any(name not in contents or sha256_of(contents[name]) != stored.files[name].sha256 for name in mine):
        return False
    before = {"build_id": stored.fingerprint, "lake_id": stored.lake}
    for name, content in contents.items():
        if name.endswith(".html"):
            for key, new_id in ids.items():
                content = content.replace(before[key][: len(new_id)].encode(), new_id.encode())
        to = new / name
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(content)
    return True

"""mini-swe-agent's trajectories, of versions 1 and 2.

Those that ContextBench made have its agents say what they look at; they are read as its published converter reads them.
Of any other the commands are read with what they printed, and beside that as the published converter reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ingest.runs.importer import Importer
from ingest.runs.trajectories.context_blocks import in_repository, pairs_of
from ingest.runs.trajectories.harbor_trials import item_of_trial, trial_results
from ingest.runs.trajectories.json_values import content_of, object_of, text_of
from ingest.runs.trajectories.mini_messages import SUBMITS, calls_of, root_of
from ingest.runs.trajectories.published_shell import views_in
from ingest.runs.trajectories.sessions import Session
from ingest.runs.trajectories.tool_events import reading_of_call
from ingest.runs.trajectories.trajectory import Context, Trajectory, View, renamed
from ingest.runs.trajectories.trajectory_file import DamagedError, JsonObject, TrajectoryFile, kind_of

_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
_FORMAT = re.compile(rb'"trajectory_format"\s*:\s*"mini-swe-agent|"mini_version"\s*:')
_NAME = re.compile(r"(?:\.traj|mini-swe-agent\.trajectory)\.json(?:\.gz|\.zst)?$")
_FIRST = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:info|messages|instance_id)"\s*:')
_STEP = re.compile(r"<explore_context>(.*?)</explore_context>", re.DOTALL)
_FINAL = re.compile(r"<PATCH_CONTEXT>(.*?)</PATCH_CONTEXT>", re.DOTALL)
_COMMAND = re.compile(r"```bash\s*\r?\n(.*?)\r?\n```", re.DOTALL)
_ASKS = re.compile("explore_context", re.IGNORECASE)
_IMAGE = re.compile(r"_m_([\w.-]+)")
_ITEM = re.compile(r"[^/]+?__(.+?)-[0-9]+")

Views = tuple[View, ...]


def recognise(head: bytes, name: str) -> bool:
    """An object that names mini-swe-agent near its beginning, or begins as one in a file that is called so."""
    if _OBJECT.match(head) is None:
        return False
    return _FORMAT.search(head) is not None or (_NAME.search(name) is not None and _FIRST.match(head) is not None)


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """The one trajectory of a file.

    Where the agent was asked for what it looks at, steps are the `<explore_context>` blocks of all messages: they stand
    in what it was shown, one for each command that read something. A block that names nothing of the repository is no
    step, one that names nothing at all is an empty one. Where a whole trajectory has none, its steps are what the
    assistant's commands show of files by themselves.

    Where it was not asked, steps are what its commands printed of files; each starts in the same folder. What the
    published converter would make of that, out of the commands alone, is kept beside it.

    The final context is the last `<PATCH_CONTEXT>` of the assistant; where it was not asked and says none, the union of
    the steps. The published converter takes the last one of any message, and so mistakes the template in the request
    for an answer where there is none: that is kept as its reading.

    Raises:
        DamagedError: The file is no JSON object with messages.
    """
    document = object_of(file.json())
    item, messages = text_of(document.get("instance_id")) or item_of_trial(file), document.get("messages")
    if not isinstance(messages, list):
        reason = f"it has no list of messages: messages is {kind_of(messages)}"
        raise DamagedError(reason, item)
    info = object_of(document.get("info"))
    said = [content_of(message) for message in messages]
    own = [text for message, text in zip(messages, said, strict=True) if object_of(message).get("role") == "assistant"]
    folder = _folder(info, item or file.path.rpartition("/")[2])
    steps = [views for text in said for block in _STEP.findall(text) if (views := _named(block, folder)) is not None]
    answers = [block for text in own for block in _FINAL.findall(text)]
    final = (_named(answers[-1], folder) or None) if answers else None
    any_answers = [block for text in said for block in _FINAL.findall(text)]
    published_final = (_named(any_answers[-1], folder) or None) if any_answers else None
    published = Context(tuple(steps or _commanded(own, folder)), published_final)
    patch = _patch(info, messages)
    if any(_ASKS.search(text) for text in said):
        other = None if final == published.final else published
        yield Trajectory(item, published.steps, final, patch, "", published=other)
        return
    one = _session(messages, info).trajectory(item, patch)
    one = replace(one, final=final or one.final)
    is_same = (one.steps, one.final) == (published.steps, published.final)
    yield one if is_same else replace(one, published=published)


def _session(messages: Sequence[object], info: JsonObject) -> Session:
    calls = calls_of(messages)
    environment = object_of(object_of(info.get("config")).get("environment"))
    root = text_of(environment.get("cwd")).rstrip("/")
    readings = [reading_of_call(call) for call in calls]
    session = Session(root or root_of([view for reading in readings for view in reading.views]))
    for call, reading in zip(calls, readings, strict=True):
        session.add(call, reading)
    return session


def _patch(info: JsonObject, messages: Sequence[object]) -> str | None:
    """The submission, of the file, or of the message that ends the work."""
    ends = [object_of(object_of(message).get("extra")) for message in messages[-1:]]
    found = (patch for one in (info, *ends) if isinstance(patch := one.get("submission"), str))
    return next(found, None)


def _named(block: str, folder: str) -> Views | None:
    """The views of a block; None where all that it names lies outside the repository."""
    pairs = pairs_of(block)
    views = _inside(pairs, folder)
    return None if pairs and not views else views


def _inside(views: Sequence[View], folder: str) -> Views:
    return renamed(views, partial(in_repository, folder=folder))


def _commanded(texts: Sequence[str], folder: str) -> list[Views]:
    commands = [found[1] for text in texts if (found := _COMMAND.search(text))]
    steps = (_inside(views_in(command), folder) for command in commands if SUBMITS not in command)
    return [views for views in steps if views]


def _folder(info: object, item: str) -> str:
    """What the repository's folder below `/home` is called: as the container's image says it, else as the item does."""
    environment = object_of(object_of(object_of(info).get("config")).get("environment"))
    if found := _IMAGE.search(text_of(environment.get("image"))):
        return found[1]
    named = _ITEM.match(item)
    return named[1] if named else ""


MINI_SWE_AGENT = Importer(
    name="mini-swe-agent",
    title="mini-swe-agent trajectories",
    meaning="One .traj.json per instance: messages, with the context they name, and info.submission, the patch.",
    recognise=recognise,
    trajectories=trajectories,
    companions=trial_results,
    kind="trajectory",
    example='{"info": {"submission": "diff --git …", "mini_version": "1.17.3"}, "messages": [{"role": "system", …',
    aliases=("mini", "minisweagent"),
)

"""mini-swe-agent's trajectories, of versions 1 and 2.

Those that ContextBench made have its agents say what they look at; they are read as its published converter reads them.
Of any other the commands are read with what they printed, and beside that as the published converter reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ingest.runs.calls.parsed import FileSpan, Views, renamed
from ingest.runs.importer import Importer
from ingest.runs.trajectories.mini_messages import SUBMITS, actions_of, calls_of, is_answer
from ingest.runs.trajectories.published_converter import views_of_command
from ingest.runs.trajectories.records import answer_in, in_repository, item_of_trial, pairs_of, trial_results
from ingest.runs.trajectories.sessions import Note, Session
from ingest.runs.trajectories.trajectory import Context, Trajectory
from ingest.runs.trajectories.trajectory_file import DamagedError, TrajectoryFile
from ingest.runs.trajectories.usage import Tokens, Usage, count_at, dollars_at, most_frequent, seconds_between, summed
from ingest.runs.values import JsonObject, at, content_of, kind_of, object_of, text_of

_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
_FORMAT = re.compile(rb'"trajectory_format"\s*:\s*"mini-swe-agent|"mini_version"\s*:')
_NAME = re.compile(r"(?:\.traj|mini-swe-agent\.trajectory)\.json(?:\.gz|\.zst)?$")
_FIRST = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:info|messages|instance_id)"\s*:')
_STEP = re.compile(r"<explore_context>(.*?)</explore_context>", re.DOTALL)
_COMMAND = re.compile(r"```bash\s*\r?\n(.*?)\r?\n```", re.DOTALL)
_ENVIRONMENT = ("info", "config", "environment")
_ASKS = re.compile("explore_context", re.IGNORECASE)
_IMAGE = re.compile(r"_m_([\w.-]+)")
_ITEM = re.compile(r"[^/]+?__(.+?)-[0-9]+")


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
    """
    document = file.json()
    item, listed = text_of(document, "instance_id") or item_of_trial(file), at(document, "messages")
    if not isinstance(listed, list):
        raise DamagedError(f"it has no list of messages: messages is {kind_of(listed)}", item)
    messages, said = [object_of(message) for message in listed], [content_of(message) for message in listed]
    own, asked = (
        [text for message, text in zip(messages, said, strict=True) if message.get("role") == role]
        for role in ("assistant", "user")
    )
    folder = _folder(text_of(document, *_ENVIRONMENT, "image"), item or file.path.rpartition("/")[2])
    steps, shown_at, n_turns, n_calls = list[Views](), list[tuple[int, int]](), 0, 0
    for message, text in zip(messages, said, strict=True):
        n_turns += is_answer(message)
        n_calls += len(actions_of(message)) if is_answer(message) else 0
        named = [views for block in _STEP.findall(text) if (views := _named(block, folder)) is not None]
        steps += named
        shown_at += [(n_turns, n_calls)] * len(named)
    final, any_final = (_named(answer_in(texts) or "", folder) or None for texts in (own, said))
    published = Context(tuple(steps or _commanded(own, folder)), any_final)
    # The submission is the file's, or that of the message that ends the work.
    ends = (at(document, "info"), *(message.get("extra") for message in messages[-1:]))
    patch = next((patch for end in ends if isinstance(patch := at(end, "submission"), str)), None)
    usage = _usage(document, messages)
    if any(_ASKS.search(text) for text in said):
        usage = replace(usage, n_calls=sum(1 for _ in calls_of(messages)))
        first, at_steps = tuple(asked[:1]), tuple(shown_at)
        whole = Trajectory(published.steps, final, item, patch, usage=usage, asked=first, shown_at=at_steps)
        yield whole.beside(published)
        return
    notes = [Note("root", text_of(document, *_ENVIRONMENT, "cwd").rstrip("/")), *(Note("asked", t) for t in asked[:1])]
    own_reading = Session(file, item, patch).trajectory([*notes, *calls_of(messages)], lambda _: usage)
    yield replace(own_reading, final=final or own_reading.final).beside(published)


def _usage(document: object, messages: Sequence[JsonObject]) -> Usage:
    """As `info` sums it up, the tokens and the time of its messages."""
    info, extras = object_of(document, "info"), [object_of(message, "extra") for message in messages]
    answers = [object_of(extra, "response") for extra in extras]
    stamps = [message.get("timestamp") or at(message, "extra", "timestamp") for message in messages]
    models = (text_of(answer, "model") for answer in answers)
    return Usage(
        model=text_of(info, "config", "model", "model_name") or most_frequent(models),
        usd=dollars_at(info, "model_stats", "instance_cost"),
        seconds=seconds_between(stamps),
        n_turns=count_at(info, "model_stats", "api_calls"),
        exit_status=text_of(info, "exit_status") or None,
    ).with_tokens(summed(Tokens.of(answer.get("usage")) for answer in answers))


def _named(block: str, folder: str) -> Views | None:
    """The views of a block; None where all that it names lies outside the repository."""
    pairs = pairs_of(block)
    views = _inside(pairs, folder)
    return None if pairs and not views else views


def _inside(views: Sequence[FileSpan], folder: str) -> Views:
    return renamed(views, partial(in_repository, folder=folder))


def _commanded(texts: Sequence[str], folder: str) -> list[Views]:
    commands = [block[1] for text in texts if (block := _COMMAND.search(text))]
    steps = (_inside(views_of_command(command), folder) for command in commands if SUBMITS not in command)
    return [views for views in steps if views]


def _folder(image: str, item: str) -> str:
    """What the repository's folder below `/home` is called: as the container's image says it, else as the item does."""
    named = _IMAGE.search(image) or _ITEM.match(item)
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

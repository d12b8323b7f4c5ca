"""RepoEval over constructed pools: among drawn and look-alike files of other repositories, and among more and more."""

from __future__ import annotations

from dataclasses import replace

from lake.catalog.benchmarks.repoeval import CHUNKING, REPOEVAL_PROMPT
from lake.catalog.protocol import Protocol, Task

_CONSTRUCTED = (
    "A pool that was constructed: nobody works in it, and its numbers are not to be compared with those of the "
    "repository alone."
)


def _task(kind: str, title: str, added: str) -> Task:
    """The prompt against its repository and what is added to that."""
    return replace(
        REPOEVAL_PROMPT,
        name=f"repoeval/prompt-{kind}",
        title=f"The prompt against its repository {title}",
        meaning=f"The code before the hole is the query; its repository is searched together with {added}. "
        f"{_CONSTRUCTED}",
        pool_meaning=f"all *.py of the repository, and {added}; each content once and none that the repository has",
        pool_prefix=f"repoeval/{kind}",
        subsets=("function-2k",),
        runs="named",
    )


def _protocol(name: str, task: Task, title: str, source: str, position: int) -> Protocol:
    """The rules of repoeval@chunking-v1 over such a pool."""
    return replace(
        CHUNKING,
        name=f"repoeval@{name}-v1",
        title=f"RepoEval {title} (constructed)",
        meaning="Is the code the prompt was cut from, together with the lines to be completed, still brought back "
        f"{title}? By the rules of repoeval@chunking-v1, over pools that were constructed.",
        tasks=(task.name,),
        source=source,
        place=position,
    )


REPOEVAL_HARD = _task(
    "hard",
    "among files that look like it",
    "as many files again of the other repositories, those that rank highest for any of its prompts by BM25",
)
RANDOM_TASK = _task("random", "among drawn files", "as many files again of the other repositories, drawn by a seed")
VECTORS_TASK = _task(
    "vectors",
    "among files that look like it by vectors",
    "as many files again of the other repositories, those nearest to any of its prompts by TF-IDF vectors and cosine",
)
HARD = _protocol(
    "hard-negatives",
    REPOEVAL_HARD,
    "among hard negatives, files that look like the prompts",
    "Ours: BM25 (k1 1.5, b 0.75, words in lower case) over the files of the other repositories.",
    3,
)
RANDOM_NEGATIVES = _protocol(
    "random-negatives", RANDOM_TASK, "among drawn negatives", "Ours: files of the other repositories by lot.", 4
)
VECTOR_NEGATIVES = _protocol(
    "vector-negatives",
    VECTORS_TASK,
    "among negatives by vectors",
    "Ours: cosine of TF-IDF vectors (words in lower case, 1 + log of their number) over the other repositories' files.",
    4,
)

_SOURCE = (
    "Ours: the other repositories in an order drawn by a seed for each repository, each number's among the next's."
)
WITH_1_TASK = _task("with-1", "beside another one", "all files of one other repository, drawn by a seed")
WITH_4_TASK = _task("with-4", "beside four others", "all files of four other repositories, drawn by a seed")
WITH_16_TASK = _task(
    "with-16", "beside sixteen others", "all files of sixteen other repositories, or of all there are, drawn by a seed"
)
SCALE_1 = _protocol("scale-1", WITH_1_TASK, "beside one other repository", _SOURCE, 5)
SCALE_4 = _protocol("scale-4", WITH_4_TASK, "beside four other repositories", _SOURCE, 5)
SCALE_16 = _protocol("scale-16", WITH_16_TASK, "beside sixteen other repositories", _SOURCE, 5)

"""RepoEval's tasks, and its protocols: gold is a range of lines, a chunk is relevant when it shares a line with it."""

from dataclasses import replace

from lake.catalog.protocol import BUDGETS, WHOLE, Primary, Protocol, Task, at

REPOEVAL_PROMPT = Task(
    name="repoeval/prompt",
    benchmark="repoeval",
    title="The prompt against its repository",
    meaning="The code before the hole is the query; every Python file of the repository is searched, its own too.",
    query="prompt",
    query_meaning="the prompt, as the benchmark cut it",
    pool_meaning="all *.py of the repository; hidden folders and __pycache__ are left out",
)

REPOEVAL_CODE_CHUNK = replace(
    REPOEVAL_PROMPT,
    name="repoeval/prompt-code-chunk",
    title="The prompt, as code-chunk ran it",
    meaning="The task of a published evaluation, kept to reproduce its numbers and never shown on a leaderboard: six "
    "of the repositories, one of them with a second copy of its sources.",
    pool_meaning="all *.py of the repository in the order of their paths; in patchcore a copy of src/* as build/lib/*, "
    "listed first",
    tie="pool",
    pool_prefix="repoeval/code-chunk",
    subsets=("function-2k",),
    retrievers=("recorded",),
)

REPOEVAL_IOU = replace(
    REPOEVAL_PROMPT,
    name="repoeval/prompt-iou",
    title="The prompt against its repository, by intersection over union",
    meaning="The code before the hole is the query; every Python file of the repository is searched, its own too. A "
    "chunk that shares a line with the gold is not enough: it has to be much the same lines.",
    runs="named",
)

REPOEVAL_NEED = replace(
    REPOEVAL_PROMPT,
    name="repoeval/need",
    title="The prompt against its repository, without what follows it",
    meaning="The code before the hole is the query; every Python file of the repository is searched, the open one up "
    "to the hole. Asked are the tasks whose completion uses a definition of another file.",
    pool_meaning="all *.py of the repository, of the open file the lines before the hole",
    pool_prefix="repoeval/need",
    pool_by="hole",
    subsets=("function-2k",),
)

REPOEVAL_COMPLETION = Task(
    name="repoeval/completion",
    benchmark="repoeval",
    title="The code in the hole",
    meaning="A model writes what stands in the hole; its answers are imported.",
    query="prompt",
    query_meaning="the prompt, with whatever was retrieved for it",
    pool_meaning="none",
    answered_by=("completion",),
    imported_only=True,
)

CHUNKING = Protocol(
    name="repoeval@chunking-v1",
    title="RepoEval, context and completion",
    meaning="Does retrieval bring back the code the prompt was cut from, together with the lines to be completed? Gold "
    "runs from the prompt's first line to the end of the completion, so most of it is the query's own text.",
    tasks=("repoeval/prompt",),
    gold="context-and-completion",
    relevance="line-overlap",
    metrics=(
        *at((5, 10), "precision", "recall", "ndcg"),
        ("mrr", (10,)),
        *at((5, 10), "hit", "iou", "ndcg_iou", "dcg_iou", "self_share"),
        *at(BUDGETS, "line_coverage", "line_precision", "line_f1"),
        *at(WHOLE, "correct", "found_rank", "best_similarity"),
    ),
    primary=Primary("line_f1", 8_000, "line", "macro"),
    headline=("subset", "function-2k"),
    source="The brief's loader, 0-based inclusive: "
    "[context_start_lineno, lineno + len(ground_truth.split('\\n')) - 1].",
)

TARGET = replace(
    CHUNKING,
    name="repoeval@target-v1",
    title="RepoEval, completion only",
    meaning="Does retrieval find the lines to be completed themselves? They do not exist yet when code is completed, "
    "so this says where the answer stands, not what a writer could have looked up.",
    gold="target",
    source="The completion's own lines: [lineno, lineno + n - 1], 0-based inclusive.",
)

IOU_30 = replace(
    CHUNKING,
    name="repoeval@iou-30-v1",
    title="RepoEval, chunks that are 30 % the gold's lines",
    meaning="Does a chunker cut, and retrieval bring back, a chunk of much the same lines as the gold? A chunk is "
    "relevant where the lines that both share are at least 30 % of the lines in either: neither a small piece of the "
    "gold nor a large file around it will do.",
    tasks=("repoeval/prompt-iou",),
    relevance="line-iou",
    threshold=0.3,
    metrics=(*at((5, 10), "precision", "recall", "ndcg"), ("mrr", (10,)), ("hit", (5, 10))),
    primary=Primary("ndcg", 10, "chunk", "macro"),
    source="Ours: the lines and metrics of repoeval@chunking-v1, with a threshold on intersection over union.",
    place=4,
)


def _iou(percent: int, how_many: str) -> Protocol:
    return replace(
        IOU_30,
        name=f"repoeval@iou-{percent}-v1",
        title=f"RepoEval, chunks that are {how_many} the gold's lines",
        meaning=f"As repoeval@iou-30-v1, where the shared lines are at least {how_many} the lines in either.",
        threshold=percent / 100,
    )


IOU_50, IOU_70 = _iou(50, "half of"), _iou(70, "70 % of")

NEEDS = replace(
    CHUNKING,
    name="repoeval@needs-v1",
    title="RepoEval, what the completion uses",
    meaning="Does retrieval bring back what a writer needs to complete the code: the definitions in other files that "
    "the completion uses? Neither the query's own text nor the answer is gold, so a search can win.",
    tasks=("repoeval/need",),
    gold="needs",
    metrics=(
        *at(BUDGETS, "line_coverage", "line_precision", "line_f1"),
        ("success", (1, 5, 10)),
        *at((5, 10), "recall", "ndcg"),
        ("mrr", (10,)),
        ("found_rank", WHOLE),
    ),
    source="Ours: jedi 0.20.1 resolves the names of the completion over the finished file.",
    place=0,
)

COMPLETION = Protocol(
    name="repoeval@completion-v1",
    title="RepoEval, completions",
    meaning="How near is the code that a model wrote to the lines that stood there? It measures the model as much as "
    "what was retrieved for it.",
    tasks=("repoeval/completion",),
    gold="target",
    relevance="line-overlap",
    metrics=(("em", (0,)), ("es", (0,))),
    primary=Primary("em", 0, "completion", "macro"),
    headline=("subset", "function-2k"),
    source="RepoCoder's compute_score: stripped lines that are not blank, cut to the target's number of lines.",
)

CODE_CHUNK = Protocol(
    name="repoeval@code-chunk-v1",
    title="RepoEval as code-chunk evaluates it",
    meaning="Gold runs from the prompt's first line to the first line of the completion; the mean is taken within each "
    "repository and then over repositories.",
    tasks=("repoeval/prompt", "repoeval/prompt-code-chunk"),
    gold="context-to-hole",
    relevance="line-overlap",
    metrics=at((5, 10), "precision", "recall", "ndcg"),
    primary=Primary("ndcg", 5, "chunk", "by_repo"),
    headline=("subset", "function-2k"),
    source="The published code-chunk evaluation: [context_start_lineno, lineno], 0-based inclusive.",
    parity_only=True,
)


_CONSTRUCTED = (
    "A pool that was constructed: nobody works in it, and its numbers are not to be compared with those of the "
    "repository alone."
)


def _task(kind: str, title: str, added: str) -> Task:
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

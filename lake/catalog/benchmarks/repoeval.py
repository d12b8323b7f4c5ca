"""RepoEval's tasks and protocols: gold is a range of lines; a chunk that shares a line with it is relevant."""

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
    meaning="The task of a published evaluation, to reproduce its numbers: six repositories, one with a second copy.",
    pool_meaning="all *.py of the repository by path; in patchcore first a copy of src/* as build/lib/*",
    tie="pool",
    pool_prefix="repoeval/code-chunk",
    subsets=("function-2k",),
    retrievers=("recorded",),
)

REPOEVAL_IOU = replace(
    REPOEVAL_PROMPT,
    name="repoeval/prompt-iou",
    title="The prompt against its repository, by intersection over union",
    meaning="As repoeval/prompt, but a chunk is relevant only if its lines are much the same as the gold's.",
    runs="named",
)

REPOEVAL_NEED = replace(
    REPOEVAL_PROMPT,
    name="repoeval/need",
    title="The prompt against its repository, without what follows it",
    meaning="The code before the hole is the query; every Python file of the repository is searched, the open one up "
    "to the hole. Items whose completion uses no definition of another file are left out.",
    pool_meaning="all *.py of the repository, of the open file the lines before the hole",
    pool_prefix="repoeval/need",
    pool_by="hole",
    subsets=("function-2k",),
)

REPOEVAL_COMPLETION = Task(
    name="repoeval/completion",
    benchmark="repoeval",
    title="The code in the hole",
    meaning="A model completes the code; its answers are imported.",
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
    meaning="Does retrieval bring back a chunk of much the same lines as the gold? The lines that both share are at "
    "least 30 % of the lines in either: neither a small piece of the gold nor a large file around it will do.",
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
    meaning="How near is a model's code to the lines that stood there? It measures the model as much as the retrieval.",
    tasks=("repoeval/completion",),
    gold="target",
    relevance="line-overlap",
    metrics=at(WHOLE, "em", "es"),
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


def _constructed(pool: str, rules: str, among: str, added: str, source: str, place: int = 4) -> tuple[Task, Protocol]:
    """A task whose pools also hold files of other repositories (`added`), and its protocol."""
    task = replace(
        REPOEVAL_PROMPT,
        name=f"repoeval/prompt-{pool}",
        title=f"The prompt against its repository {among}",
        meaning=f"The code before the hole is the query; its repository is searched together with {added}. Such "
        "a pool is artificial: do not compare its numbers with those over the repository alone.",
        pool_meaning=f"all *.py of the repository, and {added}; each content once and none that the repository has",
        pool_prefix=f"repoeval/{pool}",
        subsets=("function-2k",),
        runs="named",
    )
    protocol = replace(
        CHUNKING,
        name=f"repoeval@{rules}-v1",
        title=f"RepoEval {among} (constructed)",
        meaning="Is the code the prompt was cut from, together with the lines to be completed, still brought back "
        f"{among}? By the rules of repoeval@chunking-v1, over artificial pools.",
        tasks=(task.name,),
        source=source,
        place=place,
    )
    return task, protocol


def _beside(n: int, others: str, or_less: str = "") -> tuple[Task, Protocol]:
    drawn = "the other repositories in an order drawn by a seed for each repository, each number's among the next's"
    added = f"all files of {others}{or_less}, drawn by a seed"
    return _constructed(f"with-{n}", f"scale-{n}", f"beside {others}", added, f"Ours: {drawn}.", 5)


REPOEVAL_HARD, HARD = _constructed(
    "hard",
    "hard-negatives",
    "among hard negatives, files that look like the prompts",
    "as many files again of the other repositories, those that rank highest for any of its prompts by BM25",
    "Ours: BM25 (k1 1.5, b 0.75, words in lower case) over the files of the other repositories.",
    3,
)
RANDOM_TASK, RANDOM_NEGATIVES = _constructed(
    "random",
    "random-negatives",
    "among drawn negatives",
    "as many files again of the other repositories, drawn by a seed",
    "Ours: files of the other repositories by lot.",
)
VECTORS_TASK, VECTOR_NEGATIVES = _constructed(
    "vectors",
    "vector-negatives",
    "among negatives by vectors",
    "as many files again of the other repositories, those nearest to any of its prompts by TF-IDF vectors and cosine",
    "Ours: cosine of TF-IDF vectors (words in lower case, 1 + log of their number) over the other repositories' files.",
)
WITH_1_TASK, SCALE_1 = _beside(1, "one other repository")
WITH_4_TASK, SCALE_4 = _beside(4, "four other repositories")
WITH_16_TASK, SCALE_16 = _beside(16, "sixteen other repositories", ", or of all there are")

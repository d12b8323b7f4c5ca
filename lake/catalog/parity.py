"""What of this project's numbers somebody outside it computed too: how many of the values are equal.

`python -m tests.parity` writes the rows; the tests hold them against what it finds.
"""

from __future__ import annotations

from typing import NamedTuple


class Parity(NamedTuple):
    """One quantity that somebody outside this project computed too.

    Attributes:
        reference: Who.
        quantity: What was computed.
        benchmark: On whose data.
        kind: What sort of reference it is.
        n_compared: How many values were compared.
        n_equal: How many of them are equal: to 1e-12, of values beyond 1 in proportion.
        largest_difference: Between two values that were compared.
        explanation: Why some are known to differ.
    """

    reference: str
    quantity: str
    benchmark: str
    kind: str
    n_compared: int
    n_equal: int
    largest_difference: float | None
    explanation: str


ROWS: tuple[Parity, ...] = (
    Parity("code-chunk-rankings", "ast: mean over repositories", "repoeval", "published run", 3, 3, 5.6e-17, ""),
    Parity("code-chunk-rankings", "ast: ndcg@5 of a query", "repoeval", "published run", 373, 373, 2.2e-16, ""),
    Parity("code-chunk-rankings", "ast: precision@5 of a query", "repoeval", "published run", 373, 373, 0, ""),
    Parity("code-chunk-rankings", "ast: recall@5 of a query", "repoeval", "published run", 373, 373, 0, ""),
    Parity("code-chunk-rankings", "fixed: mean over repositories", "repoeval", "published run", 3, 3, 1.1e-16, ""),
    Parity("code-chunk-rankings", "fixed: ndcg@5 of a query", "repoeval", "published run", 373, 373, 2.2e-16, ""),
    Parity("code-chunk-rankings", "fixed: precision@5 of a query", "repoeval", "published run", 373, 373, 0, ""),
    Parity("code-chunk-rankings", "fixed: recall@5 of a query", "repoeval", "published run", 373, 373, 0, ""),
    Parity("code-chunk-vectors", "fixed: mean over repositories", "repoeval", "published run", 3, 3, 1.1e-16, ""),
    Parity("code-chunk-vectors", "fixed: ndcg@5 of a query", "repoeval", "published run", 373, 373, 2.2e-16, ""),
    Parity("code-chunk-vectors", "fixed: precision@5 of a query", "repoeval", "published run", 373, 373, 0, ""),
    Parity("code-chunk-vectors", "fixed: recall@5 of a query", "repoeval", "published run", 373, 373, 0, ""),
    Parity("code-chunk-vectors", "relevant chunks of a query", "repoeval", "published run", 895, 895, 0, ""),
    Parity("contextbench-converter", "views of a final context", "contextbench", "raw trajectory", 102, 102, 0, ""),
    Parity("contextbench-converter", "views of a step", "contextbench", "raw trajectory", 879, 879, 0, ""),
    Parity("contextbench-evaluator", "auc_coverage, file, from trajectories", "contextbench", "recorded official output", 54, 54, 0, ""),
    Parity("contextbench-evaluator", "auc_coverage, file, from unified predictions", "contextbench", "recorded official output", 54, 54, 0, ""),
    Parity("contextbench-evaluator", "auc_coverage, line, from trajectories", "contextbench", "recorded official output", 54, 54, 0, ""),
    Parity("contextbench-evaluator", "auc_coverage, line, from unified predictions", "contextbench", "recorded official output", 54, 54, 0, ""),
    Parity("contextbench-evaluator", "auc_coverage, span, from trajectories", "contextbench", "recorded official output", 54, 54, 0, ""),
    Parity("contextbench-evaluator", "auc_coverage, span, from unified predictions", "contextbench", "recorded official output", 54, 54, 0, ""),
    Parity("contextbench-evaluator", "auc_coverage, symbol, from trajectories", "contextbench", "recorded official output", 54, 54, 0, ""),
    Parity("contextbench-evaluator", "auc_coverage, symbol, from unified predictions", "contextbench", "recorded official output", 54, 54, 0, ""),
    Parity("contextbench-evaluator", "coverage by step, file, from trajectories", "contextbench", "recorded official output", 648, 648, 0, ""),
    Parity("contextbench-evaluator", "coverage by step, file, from unified predictions", "contextbench", "recorded official output", 648, 648, 0, ""),
    Parity("contextbench-evaluator", "coverage by step, line, from trajectories", "contextbench", "recorded official output", 648, 648, 0, ""),
    Parity("contextbench-evaluator", "coverage by step, line, from unified predictions", "contextbench", "recorded official output", 648, 648, 0, ""),
    Parity("contextbench-evaluator", "coverage by step, span, from trajectories", "contextbench", "recorded official output", 648, 648, 0, ""),
    Parity("contextbench-evaluator", "coverage by step, span, from unified predictions", "contextbench", "recorded official output", 648, 648, 0, ""),
    Parity("contextbench-evaluator", "coverage by step, symbol, from trajectories", "contextbench", "recorded official output", 648, 648, 0, ""),
    Parity("contextbench-evaluator", "coverage by step, symbol, from unified predictions", "contextbench", "recorded official output", 648, 648, 0, ""),
    Parity("contextbench-evaluator", "editloc, from trajectories", "contextbench", "recorded official output", 270, 270, 0, ""),
    Parity("contextbench-evaluator", "editloc, from unified predictions", "contextbench", "recorded official output", 270, 270, 0, ""),
    Parity("contextbench-evaluator", "error, from trajectories", "contextbench", "recorded official output", 31, 31, 0, ""),
    Parity("contextbench-evaluator", "error, from unified predictions", "contextbench", "recorded official output", 31, 31, 0, ""),
    Parity("contextbench-evaluator", "final context, file, from trajectories", "contextbench", "recorded official output", 270, 270, 0, ""),
    Parity("contextbench-evaluator", "final context, file, from unified predictions", "contextbench", "recorded official output", 270, 270, 0, ""),
    Parity("contextbench-evaluator", "final context, line, from trajectories", "contextbench", "recorded official output", 270, 270, 0, ""),
    Parity("contextbench-evaluator", "final context, line, from unified predictions", "contextbench", "recorded official output", 270, 270, 0, ""),
    Parity("contextbench-evaluator", "final context, span, from trajectories", "contextbench", "recorded official output", 270, 270, 0, ""),
    Parity("contextbench-evaluator", "final context, span, from unified predictions", "contextbench", "recorded official output", 270, 270, 0, ""),
    Parity("contextbench-evaluator", "final context, symbol, from trajectories", "contextbench", "recorded official output", 270, 270, 0, ""),
    Parity("contextbench-evaluator", "final context, symbol, from unified predictions", "contextbench", "recorded official output", 270, 270, 0, ""),
    Parity("contextbench-evaluator", "instance_id, from trajectories", "contextbench", "recorded official output", 85, 85, 0, ""),
    Parity("contextbench-evaluator", "instance_id, from unified predictions", "contextbench", "recorded official output", 85, 85, 0, ""),
    Parity("contextbench-evaluator", "number of steps, from trajectories", "contextbench", "recorded official output", 702, 702, 0, ""),
    Parity("contextbench-evaluator", "number of steps, from unified predictions", "contextbench", "recorded official output", 702, 702, 0, ""),
    Parity("contextbench-evaluator", "redundancy, file, from trajectories", "contextbench", "recorded official output", 54, 54, 1.1e-16, ""),
    Parity("contextbench-evaluator", "redundancy, file, from unified predictions", "contextbench", "recorded official output", 54, 54, 1.1e-16, ""),
    Parity("contextbench-evaluator", "redundancy, line, from trajectories", "contextbench", "recorded official output", 54, 54, 1.1e-16, ""),
    Parity("contextbench-evaluator", "redundancy, line, from unified predictions", "contextbench", "recorded official output", 54, 54, 1.1e-16, ""),
    Parity("contextbench-evaluator", "redundancy, span, from trajectories", "contextbench", "recorded official output", 54, 54, 1.1e-16, ""),
    Parity("contextbench-evaluator", "redundancy, span, from unified predictions", "contextbench", "recorded official output", 54, 54, 1.1e-16, ""),
    Parity("contextbench-evaluator", "redundancy, symbol, from trajectories", "contextbench", "recorded official output", 54, 54, 1.1e-16, ""),
    Parity("contextbench-evaluator", "redundancy, symbol, from unified predictions", "contextbench", "recorded official output", 54, 54, 1.1e-16, ""),
    Parity("pytrec_eval", "repobench-r@official-v1: accuracy", "repoeval, repobench-r", "independent library", 4243, 4243, 0, ""),
    Parity("pytrec_eval", "repoeval@chunking-v1: hit", "repoeval, repobench-r", "independent library", 910, 910, 0, ""),
    Parity("pytrec_eval", "repoeval@chunking-v1: mrr", "repoeval, repobench-r", "independent library", 455, 455, 0, ""),
    Parity("pytrec_eval", "repoeval@chunking-v1: ndcg", "repoeval, repobench-r", "independent library", 910, 910, 2.2e-16, ""),
    Parity("pytrec_eval", "repoeval@chunking-v1: precision", "repoeval, repobench-r", "independent library", 910, 910, 0, ""),
    Parity("pytrec_eval", "repoeval@chunking-v1: recall", "repoeval, repobench-r", "independent library", 910, 910, 0, ""),
    Parity("pytrec_eval", "repoeval@target-v1: hit", "repoeval, repobench-r", "independent library", 910, 910, 0, ""),
    Parity("pytrec_eval", "repoeval@target-v1: mrr", "repoeval, repobench-r", "independent library", 455, 455, 0, ""),
    Parity("pytrec_eval", "repoeval@target-v1: ndcg", "repoeval, repobench-r", "independent library", 910, 910, 1.1e-16, ""),
    Parity("pytrec_eval", "repoeval@target-v1: precision", "repoeval, repobench-r", "independent library", 910, 910, 0, ""),
    Parity("pytrec_eval", "repoeval@target-v1: recall", "repoeval, repobench-r", "independent library", 910, 910, 0, ""),
    Parity("rank_bm25", "score at each rank", "repoeval", "independent library", 42648, 42648, 1.7e-11, ""),
)  # fmt: skip

"""Benchmarks in BEIR's layout; `beir` itself is filled from `--config` or a folder."""

from dataclasses import dataclass

from lake.catalog.protocol import WHOLE, Primary, Protocol, Task, at


@dataclass(frozen=True)
class Collection:
    """Documents, queries and graded judgements: `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv` in a folder.

    By default the first of `splits` is read. The data folder contains one of `markers` or is named like the benchmark.
    """

    name: str
    display_name: str
    title: str
    meaning: str
    splits: tuple[str, ...] = ("test",)
    language: str = "text"
    version: int = 1
    homepage: str = ""
    licence: str = ""
    citation: str = ""
    paper: str = ""
    markers: tuple[str, ...] = ()
    place: int = 100

    def search(self) -> Task:
        """The task: every query against all documents, ranked whole."""
        return Task(
            name=f"{self.name}/search",
            benchmark=self.name,
            title="The query against the documents",
            meaning="The query's text is searched for in all documents, which are ranked whole.",
            query="query",
            query_meaning="the query's text",
            pool_meaning="all documents, each its title and its text",
            ranks_blank=True,
            without=("own-file",),
            chunkers=("whole-file",),
        )

    def graded(self) -> Protocol:
        """The protocol: BEIR's measures as trec_eval computes them, with a document's grade as its gain."""
        return Protocol(
            name=f"{self.name}@graded-v1",
            title=self.display_name,
            meaning="Are the documents that people judged relevant ranked first? A document is relevant where its "
            "grade is above 0, and nDCG counts its grade.",
            tasks=(f"{self.name}/search",),
            gold="judged",
            relevance="graded",
            metrics=(
                *at((1, 3, 5, 10, 100), "ndcg", "recall"),
                ("precision", (1, 3, 5, 10)),
                ("mrr", (10,)),
                ("hit", (1, 3, 5, 10)),
                *at(WHOLE, "correct", "found_rank"),
            ),
            primary=Primary("ndcg", 10, "chunk", "macro"),
            source="trec_eval's ndcg_cut, recall, P, recip_rank and success over the query's judgements; a judged "
            "document that the corpus lacks counts as not returned.",
        )


BEIR_COLLECTION = Collection(
    name="beir",
    display_name="BEIR",
    title="Which documents answer the query?",
    meaning="Given a query, find among all documents those that people judged relevant. Any data in BEIR's layout.",
    splits=("test", "dev", "train"),
    homepage="https://github.com/beir-cellar/beir",
    licence="as the data's publisher states",
    citation="""@inproceedings{thakur2021beir,
  title = {BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models},
  author = {Thakur, Nandan and Reimers, Nils and R{\\"u}ckl{\\'e}, Andreas and Srivastava, Abhishek and
            Gurevych, Iryna},
  booktitle = {Thirty-fifth Conference on Neural Information Processing Systems Datasets and Benchmarks Track},
  year = {2021}
}""",
    paper="https://arxiv.org/abs/2104.08663",
    markers=("corpus.*",),
    place=4,
)

BEIR_SEARCH = BEIR_COLLECTION.search()
GRADED = BEIR_COLLECTION.graded()

"""Data of one's own in BEIR's layout: a benchmark that `--config` or a folder fills."""

from __future__ import annotations

from lake.catalog.collection import Collection

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

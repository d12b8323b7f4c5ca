from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from evaluate.retrievers import lexical, retrievers
from evaluate.retrievers.lexical import codegen_tokens
from evaluate.systems import resolve_systems
from lake.catalog.benchmarks.repobench_r import REPOBENCH_OFFICIAL
from lake.errors import GoldspanError
from tests.evaluate.hand_made import pool_of, queries_of, scores_of
from tests.tiny import command

CODE = "def burn(self, seconds):\n    return self.thrust * seconds\n"
NAMES = ("edit-codegen", "jaccard-codegen")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a tokenizer of CodeGen's kind (byte pairs), trained on two lines, that would cut at three."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator([CODE], trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet))
    made.enable_truncation(3)
    made.enable_padding(length=5)
    made.save(str(tmp_path / "tokenizer.json"))
    monkeypatch.setenv("GOLDSPAN_CODEGEN_TOKENIZER", str(tmp_path))
    lexical._tokenizer.cache_clear()
    yield tmp_path
    lexical._tokenizer.cache_clear()


def offered() -> set[str]:
    return {
        system.retriever.name
        for system in resolve_systems(REPOBENCH_OFFICIAL, [], {"whole-file": ""}, retrievers(), [])
    }


def test_every_token_of_a_text_is_there_and_no_other(folder: Path) -> None:
    tokens = codegen_tokens(CODE)
    # Byte pairs write a space as this letter and a newline as that.
    assert "".join(tokens) == CODE.replace(" ", "\u0120").replace("\n", "\u010a")
    assert len(tokens) > 5
    assert codegen_tokens("") == []


def test_both_systems_compare_its_tokens(folder: Path) -> None:
    texts, asked = [CODE, "return self.speed\n", ""], "return seconds * self.thrust"
    query, held = codegen_tokens(asked), [codegen_tokens(text) for text in texts]
    wanted = {
        "edit-codegen": [SequenceMatcher(None, query, tokens).ratio() for tokens in held],
        "jaccard-codegen": [len({*query} & {*tokens}) / len({*query} | {*tokens}) for tokens in held],
    }
    for name, scores in wanted.items():
        assert scores_of(name, pool_of(texts=texts), queries_of([asked])).tolist() == [scores]


def test_they_run_unasked_where_the_tokenizer_is_and_a_run_is_another_with_another(folder: Path) -> None:
    assert {*NAMES} <= offered()
    before = lexical._parameters()
    (folder / "tokenizer.json").write_text("{}")
    assert lexical._parameters() != before
    (folder / "tokenizer.json").unlink()
    assert offered().isdisjoint(NAMES)


def test_asked_for_by_name_it_says_what_to_give(
    lake_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLDSPAN_CODEGEN_TOKENIZER", str(tmp_path))
    said = command("evaluate", "--lake", lake_folder, "--systems", "*+edit-codegen")
    assert said.code == 4
    assert "edit-codegen cannot run here" in said.err
    needed = "a folder with the tokenizer.json of Salesforce/codegen-350M-mono."
    assert f"Give GOLDSPAN_CODEGEN_TOKENIZER=FOLDER, {needed}" in said.err
    assert "Traceback" not in said.err


def test_asked_for_by_name_it_says_what_to_install(lake_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "find_spec", lambda _: None)
    said = command("evaluate", "--lake", lake_folder, "--systems", "*+jaccard-codegen")
    assert said.code == 4
    assert "pip install -c constraints.txt 'tokenizers>=0.23,<1'" in said.err
    assert offered().isdisjoint(NAMES)
    lexical._tokenizer.cache_clear()
    with pytest.raises(GoldspanError, match=r"the tokenizer of .* is not at hand"):
        codegen_tokens("x")

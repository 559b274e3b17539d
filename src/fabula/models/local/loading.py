"""Load a model of fastembed: one of those that it knows, or a folder of files."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from fabula.errors import ModelError, SettingsError, did_you_mean

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

LOG = logging.getLogger("fabula")
PROVIDER = "fastembed"
"""What stands before the name of a model of this machine."""
MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "model_optimized.onnx",
    "onnx/model_quantized.onnx",
)
"""Where the network of a folder is, as exporters write it; the first that exists."""
POOLING_FILE = "1_Pooling/config.json"
POOLINGS = {"mean": "MEAN", "mean_tokens": "MEAN", "cls": "CLS", "cls_token": "CLS"} | {
    "lasttoken": "LAST_TOKEN"
}
"""The names of Sentence Transformers' ways of pooling, and fastembed's."""

_LOADING = threading.Lock()
"""Two threads that need a model at once would load it twice."""


def require_fastembed(model: str) -> None:
    """Raise SettingsError if fastembed is not installed."""
    if find_spec("fastembed") is None:
        raise SettingsError(
            f"{PROVIDER}:{model} runs on this machine by the package fastembed, which is not "
            "installed.",
            advice="Run `pip install 'fabula[local-models]'`.",
        )


def load_embedding(name: str, folder: Path) -> TextEmbedding:
    """Return an embedding model, loaded once in a process; it may be downloaded first.

    Args:
        name: A name that fastembed knows, or that of a folder within `folder`.
        folder: The folder of all models.

    Raises:
        SettingsError: fastembed is not installed, or there is no such model.
        ModelError: It can't be downloaded or loaded.
    """
    with _LOADING:
        return _load_embedding(name, folder)


def load_ranker(name: str, folder: Path) -> TextCrossEncoder:
    """Return a reranking model; takes and raises what `load_embedding` does."""
    with _LOADING:
        return _load_ranker(name, folder)


@cache
def _load_embedding(name: str, folder: Path) -> TextEmbedding:
    require_fastembed(name)
    from fastembed import TextEmbedding

    model: TextEmbedding = _load(TextEmbedding, name, folder, _read_pooling)
    return model


@cache
def _load_ranker(name: str, folder: Path) -> TextCrossEncoder:
    require_fastembed(name)
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    model: TextCrossEncoder = _load(TextCrossEncoder, name, folder, lambda own: {})
    return model


def _load(kind: Any, name: str, folder: Path, describe: Callable[[Path], dict[str, Any]]) -> Any:
    """Return a model of a kind; `describe` reads from a folder what fastembed has to know of it."""
    from fastembed.common.model_description import ModelSource

    own = find_folder(name, folder)
    known = [model["model"] for model in kind.list_supported_models()]
    if own is None:
        _refuse_unknown(name, known, folder)
        return _download(name, folder, partial(kind, name))
    described, registered = describe(own), f"folder/{own}"
    if registered not in known:
        # It is never fetched: the folder takes its place.
        source, file = ModelSource(hf=registered), _model_file(own)
        kind.add_custom_model(model=registered, sources=source, model_file=file, **described)
    try:
        return kind(registered, specific_model_path=str(own))
    except Exception as error:
        raise ModelError(f"The model in {own} can't be loaded: {error}") from error


def find_folder(name: str, folder: Path) -> Path | None:
    """Return the folder of a model's own files, if it lies in the folder of all models.

    A name never leads out of that folder: it may come from the settings of a stranger's folder.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
        return None
    own = folder / path
    return own if (own / "tokenizer.json").is_file() else None


def _refuse_unknown(name: str, known: Sequence[str], folder: Path) -> None:
    if name.lower() in {model.lower() for model in known}:
        return
    hint = did_you_mean(name, known, f"There are: {', '.join(sorted(known))}.")
    raise SettingsError(
        f"fastembed knows no model {name!r}, and {folder} has no folder of this name with a "
        f"tokenizer.json in it. {hint}"
    )


def _download(name: str, folder: Path, make: Callable[..., Any]) -> Any:
    """Return a model that fastembed knows, from the folder of models or the Hugging Face hub."""
    from loguru import logger

    # It reports each failed try to standard error, where Fabula reports the last.
    logger.disable("fastembed")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return make(cache_dir=str(folder), local_files_only=True)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the files: they are fetched
        LOG.debug("%s is not in %s: %s", name, folder, error)
    LOG.warning("Downloading %s into %s; this happens once.", name, folder)
    try:
        return make(cache_dir=str(folder))
    except Exception as error:
        raise ModelError(
            f"{PROVIDER}:{name} could not be downloaded from the Hugging Face hub: {error} On a "
            f"machine without a network, copy the model's files (the .onnx file, tokenizer.json, "
            f"tokenizer_config.json, config.json and {POOLING_FILE}) into {folder / name}."
        ) from error


def _model_file(own: Path) -> str:
    for file in MODEL_FILES:
        if (own / file).is_file():
            return file
    raise SettingsError(f"{own} has no model in ONNX: one of {', '.join(MODEL_FILES)}.")


def _read_pooling(own: Path) -> dict[str, Any]:
    """Return how the vectors of a text's tokens become one, and its length."""
    from fastembed.common.model_description import PoolingType

    # There is no default: with another pooling than in training, a model finds little, silently.
    file = own / POOLING_FILE
    try:
        config: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{file} can't be read, which says how the vectors of tokens become one: {error}. For "
            'most models it is {"pooling_mode_mean_tokens": true} or '
            '{"pooling_mode_cls_token": true}.'
        ) from error
    modes = [
        name.removeprefix("pooling_mode_")
        for name, value in config.items()
        if name.startswith("pooling_mode_") and value is True
    ] or [str(config.get("pooling_mode", ""))]
    if len(modes) != 1 or modes[0] not in POOLINGS:
        raise SettingsError(f"{file} asks for pooling by {' and '.join(modes)}, which is unknown.")
    dimensions = config.get("word_embedding_dimension") or config.get("embedding_dimension") or 0
    pooling = PoolingType[POOLINGS[modes[0]]]
    # Vectors are scaled to unit length when they are read.
    return {"pooling": pooling, "dim": int(dimensions), "normalization": False}

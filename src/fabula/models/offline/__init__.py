"""The offline model, which embeds, writes and answers if no chat model is set.

It is not a language model. It embeds texts with the word vectors of wordllama, and what it writes
are sentences and clauses of the text itself, chosen by their words and vectors. So it needs no key
and no network, costs nothing and invents nothing. But it can't paraphrase or draw a conclusion, its
answers are lists of quotations, and it can't rewrite a question or rank passages.
"""

from fabula.models.offline.embedder import StaticEmbedder
from fabula.models.offline.guide import OfflineGuide

__all__ = ["OfflineGuide", "StaticEmbedder"]

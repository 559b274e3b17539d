"""The offline model: what embeds, writes and answers where no chat model is set.

It is no language model. It embeds with the word vectors that come with wordllama, and what it
writes are sentences and clauses of the text itself, chosen by their words and vectors. So it needs
no key and no network, costs nothing and makes nothing up. But it can't say a thing in other words
or draw a conclusion; an answer of its is a row of quotations; and it refuses to rewrite a question
or to rank passages, which takes a model that reads.
"""

from fabula.models.offline.embedder import StaticEmbedder
from fabula.models.offline.guide import OfflineGuide

__all__ = ["OfflineGuide", "StaticEmbedder"]

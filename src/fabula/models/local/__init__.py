"""Embedding models and reranking models that run on this machine, by fastembed and ONNX.

This needs the package fastembed: `pip install 'fabula[local-models]'`. A model is named with a
prefix, as `fastembed:BAAI/bge-small-en-v1.5`. Its files are downloaded once into Fabula's folder,
`models`; a folder that lies there already, as `models/my-model`, is used as it is:
`fastembed:my-model`.
"""

"""A question's way to its answer: choice of mode, retrieval, context, answer, quotations."""

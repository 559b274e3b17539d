"""The pages of the Python API: which names stand where; mkdocstrings adds the docstrings."""

from __future__ import annotations

import fabula
from docs_site.text import join_page, table

INDEX = """\
# Python API

`from fabula import App` gives a program what the command line has. These pages are made from the
docstrings of the code. [An engineer's service](../../tutorials/engineer.md) is an introduction,
and the notebook [notebook.ipynb](../../notebook.ipynb) has more examples.

All of these names are imported from `fabula`:
"""
PAGES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "collections": (
        "Collections and documents",
        "What a program holds: an `App` for each process, and a `Collection` of it.",
        (
            *("App", "Fabula", "Collection", "Conversation", "Settings", "Documents", "Entry"),
            *("Layer", "Section", "TextStructure", "TextOutline", "Lines", "Reading"),
            *("ReadingPlace", "ReadVolumes", "ReadSoFar"),
            *("DocumentSource", "Decision"),
            *("LayerRecord", "ImportedAnnotations"),
            *(
                "CollectionFile",
                "QueryTable",
                "CollectionGraph",
                "Space",
                "CheckFindings",
                "Violation",
                "Written",
                "LocatorLabels",
            ),
        ),
    ),
    "questions": (
        "Questions and answers",
        "What a question may say, and what an answer holds.",
        (
            *("Query", "Filters", "Answer", "AnswerStream", "Passage", "Hit", "Quote", "Source"),
            *("CheckedQuotation", "WeakCitation", "QuestionScope", "AskedTurn", "Turn"),
            *("Recap", "RecapPart", "Record", "HitsAcross", "AnswerAcross", "RetrievalResult"),
        ),
    ),
    "building": (
        "Building and workers",
        "What a build returns, what limits it, and who does the work.",
        (
            *("BuildOptions", "Outcome", "Gap", "Reembedded", "Budget", "Usage", "Stop"),
            *("BatchOptions", "BatchProgress", "WorkerCluster"),
        ),
    ),
    "errors": (
        "Errors",
        "All of them are `FabulaError`s. The message fits every interface.",
        ("FabulaError",),
    ),
}
"""The pages, each with its title, its first sentence, and its names; errors are added."""
EXTENDING = """\
# Writing a graph or a mode

What a package imports that brings a graph, a mode or an embedder. [Extending
Fabula](../../extending.md) explains each step with an example.
"""
EXTENSION = (
    *("fabula.graph.method.Graph", "fabula.graph.method.BuildText", "fabula.graph.method.Known"),
    *("fabula.graph.method.Built", "fabula.graph.method.BuildWork"),
    *("fabula.graph.method.PartReader", "fabula.graph.method.LazyFunction"),
    *("fabula.graph.Node", "fabula.graph.Edge", "fabula.graph.Part", "fabula.graph.Owner"),
    *("fabula.graph.mode.Mode", "fabula.graph.mode.Tools"),
    *("fabula.graph.decisions.DecisionRules", "fabula.models.roles.Models"),
)


def make_pages() -> dict[str, str]:
    """Return the pages, which hold directives of mkdocstrings.

    Raises:
        ValueError: A public name is on no page.

    """
    public = {name for name in dir(fabula) if name != "__version__"}
    errors = tuple(
        name for name in sorted(public) if issubclass(getattr(fabula, name), fabula.FabulaError)
    )
    made: dict[str, str] = {}
    placed: dict[str, str] = {}
    for page, (title, about, names) in PAGES.items():
        every = tuple(dict.fromkeys((*names, *errors))) if page == "errors" else names
        placed |= dict.fromkeys(every, page)
        directives = [_directive(name) for name in every]
        made[f"reference/python/{page}.md"] = join_page(f"# {title}", about, *directives)
    if missing := public ^ placed.keys():
        raise ValueError(f"{', '.join(sorted(missing))}: name them in docs_site/python_api.py.")
    rows = [
        (f"[`{name}`]({placed[name]}.md#fabula.{name})", PAGES[placed[name]][0])
        for name in sorted(public)
    ]
    made["reference/python/index.md"] = join_page(INDEX, table(("name", "page"), rows))
    directives = [f"::: {name}" for name in EXTENSION]
    made["reference/python/extending.md"] = join_page(EXTENDING, *directives)
    return made


def _directive(name: str) -> str:
    directive = f"::: fabula.{name}"
    # It is a Collection: what it inherits is on the same page.
    return (
        f"{directive}\n    options:\n      inherited_members: false"
        if name == "Fabula"
        else directive
    )

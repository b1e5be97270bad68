"""Links of the site: names of the package and paths of the repository lead to their pages; scroll areas take focus."""

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

_PATHS = {
    r"validation/README\.md": "validation/index",
    r"validation/(\w+)(?:/|/README\.md)?": r"validation/\1",
    r"docs/(guide/\w+|from_\w+|papers)\.md": r"\1",
    r"notebooks/(\w+)\.ipynb": r"notebooks/\1",
    r"(contributing|security)\.md": r"\1",
    r"changelog\.md": "changes",
}
_SCROLLED = r'<pre(?=>)|<div class="(?:table-wrapper|output text_html)[^"]*"'


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect what this module does with the building of the site."""
    from pygments.lexers.special import TextLexer

    app.add_lexer("output", TextLexer)
    app.connect("doctree-resolved", _link_names)
    app.connect("html-page-context", _finish_page)
    return {"parallel_read_safe": True}


def _link_names(app: Sphinx, page: nodes.document, name: str) -> None:
    """Make links of `bb.` names, of names in docstrings, and of paths, where they stand in backquotes."""
    api = re.fullmatch(r"generated/api/(bayesbias.*)", name)
    arguments = {node[0].astext() for node in page.findall(addnodes.desc_parameter) if node.children}
    for node in list(page.findall(lambda node: isinstance(node, nodes.literal | nodes.title_reference))):
        code = node if isinstance(node, nodes.literal) else nodes.literal(node.astext(), node.astext())
        parents = set()
        parent = node.parent
        while parent is not None:
            parents.add(type(parent))
            parent = parent.parent
        is_linked = parents & {nodes.reference, nodes.title}
        place = None if is_linked else _target(app, node.astext(), api, arguments)
        if place and place[0] != name:
            code = make_refnode(app.builder, name, *place, code.deepcopy())
        node.replace_self(code)


def _target(app: Sphinx, text: str, api: re.Match[str] | None, arguments: set[str]) -> tuple[str, str] | None:
    """Return the page and the place of what a text names."""
    objects = app.env.domaindata["py"]["objects"]
    called = re.fullmatch(r"(bb\.)?([A-Za-z_][\w.]*)(\(.*\))?", text, re.DOTALL)
    if called and (called[1] or (api and called[2] not in arguments)):
        for place in ("bayesbias", *([api[1].rpartition(".")[0]] if api and not called[1] else [])):
            entry = objects.get(f"{place}.{called[2]}") or objects.get(f"{place}.{called[2].rpartition('.')[0]}")
            if entry:
                return entry.docname, entry.node_id
        if called[1] and f"generated/api/bayesbias.{called[2]}" not in app.env.found_docs and "." not in called[2]:
            return "api", f"bayesbias-{called[2].replace('_', '-')}"
    for pattern, target in _PATHS.items():
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        if match and (page := match.expand(target).lower()) in app.env.found_docs:
            return page, ""
    return None


def _finish_page(app: Sphinx, name: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Let the keyboard reach what scrolls; a page for missing pages is shown at any address."""
    if "body" in context:
        context["body"] = re.sub(_SCROLLED, r'\g<0> tabindex="0"', context["body"])
    if name == "404":
        context["metatags"] = context.get("metatags", "") + f'<base href="{app.config.html_baseurl or "/"}">'

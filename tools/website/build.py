#!/usr/bin/env python3
"""Builds the site into build/site: the pages of docs/ and the API reference.

    ./dev docs --site

The pages go to build/site_source first. There, links to files of the tree become links to pages
that show them, so that the site is whole without the tree. MkDocs then runs in an environment of
its own, build/site_environment, which is made from the dependency group `site` of pyproject.toml.
SITE_VENV=folder uses an environment that you keep yourself. The result needs no server:
build/site/index.html can be opened as a file.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]

import api_pages  # noqa: E402
import navigation  # noqa: E402
from check_links import _LINK, text_lines  # noqa: E402
from check_prose import tracked_files  # noqa: E402

SOURCE = ROOT / "build" / "site_source"
SITE = ROOT / "build" / "site"
LANGUAGES = {".py": "python", ".cc": "cpp", ".h": "cpp", ".hpp": "cpp", ".cu": "cuda", ".cuh": "cuda", ".c": "c", ".sh": "bash",
             ".txt": "text", ".toml": "toml", ".pyi": "python", ".inc": "cpp", ".yml": "yaml", ".svg": "xml"}
TOP_PAGES = {"CHANGELOG.md": "CHANGELOG.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "README.md": "index.md"}
CARRIED = {".md", ".svg", ".png", ".jpg", ".css", ".js"}       # kinds of files that docs/ brings into the site


class Pages:
    """The pages of the site by their path, with the files of the tree that they show."""

    def __init__(self):
        self.tracked = {path.relative_to(ROOT).as_posix() for path in tracked_files()}
        self.pages = {}
        self.shown = set()

    def place(self, path):
        """Where a file or folder of the tree is in the site."""
        if path in TOP_PAGES:
            return TOP_PAGES[path]
        if path.startswith("docs/") and Path(path).suffix in CARRIED:
            return path.removeprefix("docs/")
        if path.endswith("/README.md"):
            path = path.removesuffix("/README.md")      # it is the folder's page
        self.shown.add(path)
        if path.endswith(".md"):
            return f"tree/{path}"
        return f"tree/{path}/index.md" if (ROOT / path).is_dir() else f"tree/{path}.md"

    def moved(self, text, origin, page):
        """A page's text with its links as they are in the site."""
        masked = ["x" * len(line) for line in text.split("\n")]      # code is no link
        for number, line in text_lines(text):
            masked[number - 1] = line
        for match in reversed(list(_LINK.finditer("\n".join(masked)))):
            group = next(i for i, g in enumerate(match.groups(), 1) if g)
            path, mark, anchor = match.group(group).partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(origin), path))
            if not path or re.match(r"[a-z][a-z0-9+.-]*:", path) or not (ROOT / target).exists():
                continue
            new = os.path.relpath(self.place(target), os.path.dirname(page) or ".") + mark + anchor
            text = text[:match.start(group)] + new + text[match.end(group):]
        return text

    def add(self, path, page):
        """Adds a Markdown file of the tree."""
        self.pages[page] = self.moved((ROOT / path).read_text(encoding="utf-8"), path, page)

    def show(self, path):
        """Adds a page that shows a file or a folder of the tree."""
        page = self.place(path)
        if path.endswith(".md"):
            self.add(path, page)
            return
        if (ROOT / path).is_dir():
            inside = sorted(name for name in self.tracked if name.startswith(path + "/"))
            own = f"{path}/README.md"
            lines = [f"# {path}", "", f"{len(inside)} files of the repository.", ""]
            if own in inside:
                inside.remove(own)
                lines = [self.moved((ROOT / own).read_text(encoding="utf-8"), own, page), "", "## All files", ""]
            for name in inside:
                if path.startswith(("examples", "include")) or name in self.shown:
                    link = os.path.relpath(self.place(name), os.path.dirname(page))
                    lines.append(f"- [{name.removeprefix(path + '/')}]({link})")
                else:
                    lines.append(f"- `{name.removeprefix(path + '/')}`")
            self.pages[page] = "\n".join(lines) + "\n"
            return
        text = (ROOT / path).read_text(encoding="utf-8")
        fence = "`" * max(3, 1 + max((len(f) for f in re.findall(r"`+", text)), default=0))
        language = LANGUAGES.get(Path(path).suffix, "text")
        head = "---\nsearch:\n  exclude: true\n---\n\n"
        self.pages[page] = f"{head}# {path}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"

    def show_all(self):
        """Adds the pages of what other pages lead to, until none is missing."""
        done = set()
        while self.shown - done:
            for path in sorted(self.shown - done):
                done.add(path)
                self.show(path)


def with_navigation(api, pages):
    """The navigation as MkDocs reads it, of the pages that are there."""
    def item(title, where):
        if where == "api/":
            where = api
            return {title: [below(t, w, "api/") for t, w in where]}
        return below(title, where, "")

    def below(title, where, prefix):
        return {title: prefix + where if isinstance(where, str) else [below(t, w, prefix) for t, w in where]}

    return [item(title, where) for title, where in navigation.complete(pages)]


def environment():
    """The Python of the environment that has MkDocs; made when it is missing or older than the
    list of packages."""
    if os.environ.get("SITE_VENV"):
        return Path(os.environ["SITE_VENV"]) / "bin" / "python"
    place = ROOT / "build" / "site_environment"
    python, stamp = place / "bin" / "python", place / ".stamp"
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["site"]
    checksum = hashlib.sha256("\n".join(packages).encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != checksum:
        venv.create(place, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages], check=True)
        stamp.write_text(checksum)
    return python


def write_source():
    """Writes build/site_source."""
    pages = Pages()
    for path in sorted(pages.tracked):
        if path.startswith("docs/") and path.endswith(".md"):
            pages.add(path, path.removeprefix("docs/"))
    for path, page in TOP_PAGES.items():
        if path != "README.md":
            pages.add(path, page)
    written = set(pages.pages)
    reference, api = api_pages.pages()
    for path, text in reference.items():
        pages.pages["api/" + path] = text
    pages.pages["operators.md"] = "---\nsearch:\n  exclude: true\n---\n\n" + pages.pages["operators.md"]
    pages.show_all()
    shutil.rmtree(SOURCE, ignore_errors=True)
    for path, text in pages.pages.items():
        place = SOURCE / "pages" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    for path in pages.tracked:
        if path.startswith("docs/") and Path(path).suffix in CARRIED - {".md"}:
            place = SOURCE / "pages" / path.removeprefix("docs/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, place)
    shutil.copytree(HERE / "theme", SOURCE / "pages" / "assets")
    (SOURCE / "theme").mkdir()
    text = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    text += f"site_dir: {json.dumps(str(SITE))}\nnav: {json.dumps(with_navigation(api, written))}\n"
    (SOURCE / "mkdocs.yml").write_text(text, encoding="utf-8")


def main():
    write_source()
    done = subprocess.run([environment(), "-m", "mkdocs", "build", "--quiet", "--clean", "--config-file", SOURCE / "mkdocs.yml"],
                          env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"})
    if done.returncode:
        sys.exit(done.returncode)
    (SITE / "404.html").unlink(missing_ok=True)      # for a server at the root of a host, with links from there
    print(f"wrote {SITE.relative_to(ROOT)}/index.html and {sum(1 for _ in SITE.rglob('*.html')) - 1} more pages")


if __name__ == "__main__":
    main()

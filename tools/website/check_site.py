#!/usr/bin/env python3
"""Checks the pages of the built site: links inside of it, anchors, the form of links to other
hosts, and that a page loads nothing from elsewhere.

    tools/website/check_site.py [FOLDER]         build/site without an argument

Prints ``page: what is wrong`` for each finding; the exit status is 1 if there is one. Other hosts
are not asked.
"""
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"), ("audio", "src"),
          ("object", "data"), ("embed", "src")}
LOADING_LINKS = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "modulepreload", "shortcut"}
HOST = re.compile(r"(?=.{1,253}$)([A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,}(?::\d+)?$|localhost(?::\d+)?$")


class Page(HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Notes what a tag refers to."""
        values = dict(attributes)
        if values.get("id"):
            self.anchors.add(values["id"])
        if tag == "a":
            if values.get("name"):
                self.anchors.add(values["name"])
            if values.get("href") is not None:
                self.links.append(values["href"])
        for name, value in attributes:
            if (tag, name) in LOADED and value:
                self.loads.append(value)
            if name == "style" and value:
                self.loads += re.findall(r"url\(['\"]?([^)'\"]+)", value)
        if tag == "link" and LOADING_LINKS & set((values.get("rel") or "").split()):
            self.loads.append(values.get("href") or "")


def outside(link):
    """What is wrong with a link to another host by its form; None where nothing is."""
    parts = urlsplit(link)
    if parts.scheme == "mailto":
        return None if re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", parts.path) else "no address"
    if parts.scheme not in ("http", "https"):
        return f"the scheme {parts.scheme}"
    return None if HOST.match(parts.netloc) and not re.search(r"\s", link) else "no such host can be"


def findings(folder):
    """(page, what is wrong) of all pages."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(folder)
        for link in page.loads:
            if re.match(r"(?:[a-z]+:)?//", link):
                yield name, f"loads {link} from elsewhere"
            elif not link.startswith("data:") and not (path.parent / unquote(urlsplit(link).path)).exists():
                yield name, f"loads {link}, which is not there"
        for link in page.links:
            if re.match(r"[a-z][a-z0-9+.-]*:|//", link):
                wrong = outside("https:" + link if link.startswith("//") else link)
                if wrong:
                    yield name, f"link {link}: {wrong}"
                continue
            parts = urlsplit(link)
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if target.is_dir():
                target = target / "index.html"
            if not target.exists() or not target.is_relative_to(folder):
                yield name, f"link {link}: there is no such file"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                if parts.fragment != "__skip" and not parts.fragment.startswith("__"):
                    yield name, f"link {link}: the page has no such place"
    for sheet in folder.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        for url in re.findall(r"(?:url\(|@import )['\"]?((?:https?:)?//[^)'\"\s]+)", text):
            yield sheet.relative_to(folder), f"loads {url} from elsewhere"


def main(arguments):
    """The command; returns its exit status."""
    folder = Path(arguments[0] if arguments else ROOT / "build" / "site").resolve()
    if not (folder / "index.html").exists():
        print(f"{folder} is no site; ./dev docs --site builds one", file=sys.stderr)
        return 2
    wrong = list(findings(folder))
    for page, what in wrong:
        print(f"{page}: {what}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""The site of script/docs: its catalog for DocC, and the checks of what DocC has made.

usage: docs/site/site.py catalog DIRECTORY    writes the pages of modules, the articles (docs/*.md and SECURITY.md), the
                                              tutorial, its code and the images
       docs/site/site.py check ARCHIVE        fails for an empty page, a link to a page that is missing, an article that no
                                              page lists, and a public type without a topic; makes /documentation
"""
import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ARTICLES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "SECURITY.md"]
CODE = ["Snippets/LoadOne.swift", "Examples/ShowImage/ShowImage.swift", "Examples/ImageList/ImageList.swift"]
CODE += [f"Examples/Gallery/{name}.swift" for name in ("ImageGrid", "DetailView", "GalleryDelegate", "Main")]
CODE += ["docs/site/Package.swift"]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def article(path):
    """Returns a page in DocC's Markdown: links to other articles are DocC's, others are text."""
    names = {page.name: page.stem for page in ARTICLES}
    headings = {slug(line[3:]): line[3:] for line in path.read_text().splitlines() if line.startswith("## ")}

    def link(match):
        is_image, text, target = match.groups()
        file, _, anchor = target.partition("#")
        if is_image or target.startswith(("http:", "https:")):
            return f"{is_image}[{text}]({Path(target).name if is_image else target})"
        if not file:
            return f"[{text}](doc:{path.stem}#{headings[anchor].replace(' ', '-')})"
        return f"[{text}](doc:{names[Path(file).name]})" if Path(file).name in names else text

    lines = [line for line in path.read_text().splitlines() if not re.fullmatch(r"<!-- .* -->", line)]
    parts = re.split(r"(?m)^(```[\s\S]*?^```)$", "\n".join(lines))
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts) + "\n"


def slug(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def catalog(directory):
    directory.mkdir(parents=True)
    for page in (ROOT / "Sources").glob("*/*/*.docc/*.md"):
        shutil.copy(page, directory)
    for page in ARTICLES:
        (directory / page.name).write_text(article(page))
    for page in [*(ROOT / "docs/site").glob("*.md"), *(ROOT / "docs/site").glob("*.tutorial")]:
        shutil.copy(page, directory)
    for image in [*(ROOT / "docs/images").iterdir(), ROOT / "docs/contact-sheet.png"]:
        shutil.copy(image, directory)
    for file in CODE:
        # The conditions are true in this package only.
        text = re.sub(r"(?m)^#(if (GTK|Redis)|endif)\n", "", re.sub(r"(?ms)^#else\n.*?(?=^#endif)", "", (ROOT / file).read_text()))
        (directory / Path(file).name).write_text(text)


def check(archive):
    data = archive / "data"
    pages = {"/" + str(path.relative_to(data))[:-5]: json.loads(path.read_text()) for path in data.rglob("*.json")}
    faults, linked = [], set()
    for url, page in pages.items():
        if "identifier" not in page:
            continue
        content = page.get("abstract") or page.get("primaryContentSections") or page.get("sections")
        if not content and not page.get("topicSections"):
            faults.append(f"{url} is empty")
        # Chapters of the tutorial have no page.
        chapters = {chapter["reference"] for chapter in page.get("hierarchy", {}).get("modules", [])}
        for identifier, reference in page.get("references", {}).items():
            target = reference.get("url", "").partition("#")[0]
            if identifier not in chapters and target.startswith(("/documentation", "/tutorials")):
                linked.add(target)
                if target not in pages:
                    faults.append(f"{url} has a link to {target}, which is missing")
        is_module = page.get("metadata", {}).get("symbolKind") == "module"
        if is_module and any(section.get("generated") for section in page.get("topicSections", [])):
            lost = [s["identifiers"] for s in page["topicSections"] if s.get("generated")]
            faults.append(f"{url} lists without a topic: {lost}")
    landing = "/documentation/documentation"
    listed = {identifier.rpartition("/")[2].lower()
              for section in pages[landing]["topicSections"] for identifier in section["identifiers"]}
    faults += [f"the first page does not list {page.name}" for page in ARTICLES if page.stem.lower() not in listed]
    for fault in faults:
        print(f"docs: {fault}", file=sys.stderr)
    # The address without a name shows the first page.
    shutil.copy(data / "documentation/documentation.json", data / "documentation.json")
    shutil.copy(archive / "documentation/documentation/index.html", archive / "documentation/index.html")
    print(f"docs: {len(pages)} pages, {len(linked)} of them linked, {len(faults)} faults")
    return 1 if faults else 0


if len(sys.argv) == 3 and sys.argv[1] == "catalog":
    catalog(Path(sys.argv[2]))
elif len(sys.argv) == 3 and sys.argv[1] == "check":
    sys.exit(check(Path(sys.argv[2])))
else:
    sys.exit(__doc__)

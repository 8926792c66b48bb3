#!/usr/bin/env python3
"""Opens a report page in headless Chromium and checks it, by the DevTools protocol over a pipe.

Usage:
  page.py check PAGE.html            fails, saying why, where the page logs an error, fetches anything, or draws a chart
                                     that is empty, at desktop and phone width, light and dark, with and without JavaScript;
                                     or where it does not fit paper: a column falls off A4, a word or a number with its
                                     unit is broken, the PDF is larger than a megabyte, or 6 KiB a layer or 24 KiB an image
  page.py paper PAGE.html OUT.pdf    prints it, A4 upright
  page.py image PAGE.html OUT.png  [--width 1120] [--height 800] [--dark] [--select CSS [--to CSS]] [--full]

Needs chromium. Exit status 77: there is none.
"""

import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

MISSING = 77

# The conditions for a drawn page: every chart has marks with area, nothing extends beyond the page, and no identifier
# occurs twice.
SURVEY = """(() => {
  const faults = [], counts = {};
  const count = (name, list) => counts[name] = list.length;
  const seen = node => { const box = node.getBoundingClientRect(); return box.width > 0 && box.height > 0 };
  // A level line has no height, and is seen by its stroke.
  const drawn = mark => seen(mark) ||
    mark.getTotalLength && mark.getTotalLength() > 0 && getComputedStyle(mark).stroke !== 'none';
  for (const details of document.querySelectorAll('details')) details.open = true;
  const charts = [...document.querySelectorAll('svg.chart, .chart > svg, svg.piece, .rows svg')];
  count('charts', charts);
  for (const chart of charts) {
    // A drawing inside a chart is as large as its marks.
    if (!chart.ownerSVGElement && !seen(chart)) faults.push('a chart has no size: ' + (chart.getAttribute('aria-label') || chart.className.baseVal));
    const marks = [...chart.querySelectorAll('rect, circle, path, polyline, polygon, line, text')];
    if (!marks.some(drawn)) faults.push('a chart is empty: ' + (chart.getAttribute('aria-label') || chart.className.baseVal));
  }
  for (const [name, selector] of Object.entries({nodes: 'a.node', rows: '.layers tr[data-moves]', links: '.link', lanes: '.lanes rect',
    configurations: '.cards tbody tr', series: '.curve', headroom: '.headroom', tables: 'table', images: 'figure img'}))
    count(name, [...document.querySelectorAll(selector)]);
  for (const node of document.querySelectorAll('a.node')) {
    if (!seen(node)) faults.push('a layer has no size: ' + node.getAttribute('aria-label'));
    if (!document.querySelector(CSS.escape ? '#' + CSS.escape(node.getAttribute('href').slice(1)) : 'body'))
      faults.push('a layer leads nowhere: ' + node.getAttribute('href'));
  }
  for (const flow of document.querySelectorAll('.flow')) {
    const boxes = [...flow.querySelectorAll('a.node')].map(node => node.querySelector('rect').getBoundingClientRect());
    boxes.sort((a, b) => a.top - b.top);
    outer: for (let i = 0; i < boxes.length; i++)
      for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom - 1; j++)
        if (boxes[j].left < boxes[i].right - 1 && boxes[i].left < boxes[j].right - 1) {
          faults.push('layers ' + i + ' and ' + j + ' of a graph lie on one another'); break outer }
  }
  const ids = [...document.querySelectorAll('[id]')].map(node => node.id);
  if (new Set(ids).size !== ids.length) faults.push('an id occurs twice');
  for (const use of document.documentElement.innerHTML.matchAll(/url\\(&?#?(?:quot;)?#?([\\w-]+)/g))
    if (!document.getElementById(use[1])) { faults.push('a pattern is missing: ' + use[1]); break }
  if (document.documentElement.scrollWidth > innerWidth + 1)
    faults.push('the page is ' + document.documentElement.scrollWidth + ' px wide, the window ' + innerWidth);
  const ink = getComputedStyle(document.body).color, paper = getComputedStyle(document.body).backgroundColor;
  const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(x => x / 255).map(x => x <= .04045 ? x / 12.92 :
    ((x + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
  const [a, b] = [light(ink), light(paper)].sort((a, b) => b - a);
  if ((a + .05) / (b + .05) < 7) faults.push('text has contrast ' + (a + .05) / (b + .05));
  return {faults, counts, dark: light(paper) < .2};
})()"""

# The conditions for a printed page: no column beside the paper, and no word cut in two. Names of layers have positions
# at which they may break.
PAPER = """(() => {
  dispatchEvent(new Event('beforeprint'));
  const faults = [], edge = document.documentElement.clientWidth;
  const seen = node => { const box = node.getBoundingClientRect(); return box.width > 0 && box.height > 0 };
  for (const node of document.querySelectorAll('th, td, svg, .panel, p, li, dd'))
    if (seen(node) && node.getBoundingClientRect().right > edge + 1) {
      faults.push('a ' + node.nodeName.toLowerCase() + ' ends ' + Math.round(node.getBoundingClientRect().right - edge) +
        ' px beside the paper: ' + node.textContent.slice(0, 40)); break }
  for (const table of document.querySelectorAll('table')) {
    const heads = [...table.querySelectorAll('thead th')];
    if (seen(table) && !heads.every(seen)) faults.push('a table lost a column: ' + heads.find(head => !seen(head)).textContent);
  }
  const words = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let text; text = words.nextNode();) {
    if (text.parentNode.closest('svg') || text.parentNode.querySelector('wbr')) continue;
    for (const word of text.data.matchAll(/[^ \\n\\t\\/-]+/g)) {
      range.setStart(text, word.index); range.setEnd(text, word.index + word[0].length);
      const tops = [...range.getClientRects()].map(box => box.top);
      if (Math.max(...tops) - Math.min(...tops) > 4) { faults.push('a word is broken: ' + word[0]); break }
    }
  }
  return [...new Set(faults)].slice(0, 8);
})()"""
# A4 between the margins of the style sheet, in CSS pixels.
PAPER_WIDTH, PAPER_HEIGHT = 703, 1024
# Limits of a PDF: a megabyte, and for each layer or image of a page with more than 170 layers or 42 images. Thumbnails
# have 400 pixels, which are sharp on paper too.
MOST_BYTES, LAYER_BYTES, IMAGE_BYTES = 1 << 20, 6 << 10, 24 << 10

# Selecting by keyboard shows the layer's costs; a filter hides rows.
INTERACTION = """(() => {
  const faults = [], sheet = document.querySelector('.sheet'), box = document.querySelector('.placement');
  const shown = () => [...document.querySelectorAll('figure')].filter(figure => figure.getClientRects().length).length;
  if (sheet) {
    const all = shown(), search = document.querySelector('input[type=search]'), button = document.querySelector('[data-filter]');
    if (all !== document.querySelectorAll('figure').length) faults.push('an image is hidden from the beginning');
    if (button) {
      button.click();
      if (shown() >= all || shown() !== +button.querySelector('small').textContent) faults.push('a category does not filter');
      button.click();
    }
    if (search) {
      search.value = 'no image is called this';
      search.dispatchEvent(new Event('input'));
      if (shown()) faults.push('the search does not filter');
      search.value = '';
      search.dispatchEvent(new Event('input'));
      if (shown() !== all) faults.push('images do not come back');
    }
  }
  if (!box) return faults;
  const nodes = box.querySelectorAll('.node'), panel = box.querySelector('.inspector');
  nodes[0].focus();
  nodes[0].dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
  if (nodes.length > 1) {
    if (document.activeElement !== [...nodes].find(node => node.dataset.n === '1')) faults.push('arrow keys do not walk');
    if (panel.hidden || !panel.textContent.includes(box.querySelectorAll('.layers tr[data-moves] th')[1].childNodes[0].textContent))
      faults.push('a selected layer is not described');
  }
  if ([...nodes].filter(node => node.tabIndex === 0).length !== 1) faults.push('the graph is not one stop of the tab key');
  const filter = box.querySelector('input[type=search]');
  filter.value = 'no layer is called this';
  filter.dispatchEvent(new Event('input'));
  if ([...box.querySelectorAll('.layers tr[data-moves]')].some(row => !row.hidden)) faults.push('the filter does not filter');
  filter.value = '';
  filter.dispatchEvent(new Event('input'));
  return faults;
})()"""


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    print("page: no chromium; dev/bootstrap.sh --tests installs it", file=sys.stderr)
    sys.exit(MISSING)


class Browser:
    """One page in a headless browser with a separate profile."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()

        def wire():
            # High numbers come first, because either end may itself be 3 or 4.
            read, write = os.dup2(ours[0], 100), os.dup2(theirs[1], 101)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-dev-shm-usage", "--force-color-profile=srgb", "--remote-debugging-pipe",
             "--user-data-dir=" + self.folder.name, "about:blank"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.write, self.read = ours[1], theirs[0]
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.read, 1 << 20)
            if not part:
                sys.exit("page: chromium ended early")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"page: {method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, path, width, height, dark, scripts=True):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media="",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events = []
        if not pathlib.Path(path).is_file():
            sys.exit(f"page: there is no {path}")
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            event = self.receive()
            if "method" in event:
                self.events.append(event)

    def pdf(self):
        data = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]
        return base64.b64decode(data)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            sys.exit(f"page: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def complaints(self):
        """Errors on the console, exceptions, and requests for anything but the page."""
        found = []
        for event in self.events:
            kind, facts = event["method"], event["params"]
            if kind == "Runtime.exceptionThrown":
                found.append("exception: " + facts["exceptionDetails"].get("text", ""))
            elif kind == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
                found.append("log: " + facts["entry"]["text"])
            elif kind == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning", "assert"):
                found.append("console: " + str(facts["args"]))
            elif kind == "Network.requestWillBeSent" and not facts["request"]["url"].startswith(("file:", "data:")):
                found.append("fetches " + facts["request"]["url"][:100])
        return found

    def close(self):
        self.session = None
        os.write(self.write, b'{"id":999999,"method":"Browser.close"}\0')
        self.process.wait(timeout=20)
        self.folder.cleanup()


def check(path):
    chromium = Browser()
    faults, counts = [], None
    for width, height in ((1280, 900), (390, 844)):
        for dark in (False, True):
            chromium.open(path, width, height, dark)
            survey = chromium.value(SURVEY)
            counts = counts or survey["counts"]
            found = survey["faults"] + chromium.value(INTERACTION) + chromium.complaints()
            if survey["dark"] != dark:
                found.append("the colour scheme is not followed")
            faults += [f"{width} px, {'dark' if dark else 'light'}: {fault}" for fault in found]
    chromium.open(path, PAPER_WIDTH, PAPER_HEIGHT, False)
    chromium.call("Emulation.setEmulatedMedia", media="print")
    faults += ["on paper: " + fault for fault in chromium.value(PAPER)]
    chromium.open(path, 1280, 900, False)
    counts["pdf"] = len(chromium.pdf())
    most = max(MOST_BYTES, LAYER_BYTES * counts["nodes"], IMAGE_BYTES * counts["images"])
    if counts["pdf"] > most:
        faults.append(f"the PDF has {counts['pdf']} bytes, more than {most}")
    chromium.open(path, 1280, 900, False, scripts=False)
    nodes = chromium.call("DOM.getDocument", depth=1)["root"]["nodeId"]
    for selector in ("a.node", ".layers tr[data-moves]"):
        found = len(chromium.call("DOM.querySelectorAll", nodeId=nodes, selector=selector)["nodeIds"])
        name = "nodes" if selector == "a.node" else "rows"
        if found != counts[name]:
            faults.append(f"without JavaScript: {found} of {counts[name]} {name}")
    tools = chromium.call("DOM.querySelectorAll", nodeId=nodes, selector=".tools:not([hidden])")["nodeIds"]
    if tools:
        faults.append("without JavaScript: controls that do nothing are shown")
    chromium.close()
    for fault in dict.fromkeys(faults):
        print(f"page: {path}: {fault}", file=sys.stderr)
    print(json.dumps(counts))
    return 1 if faults else 0


def image(arguments):
    chromium = Browser()
    chromium.open(arguments.page, arguments.width, arguments.height, arguments.dark)
    options = {"format": "png", "captureBeyondViewport": bool(arguments.select or arguments.full)}
    if arguments.click:
        chromium.value(
            f"document.querySelector({json.dumps(arguments.click)})"
            ".dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))")
    if arguments.select:
        box = chromium.value(
            f"(() => {{ const [a, b] = [{json.dumps(arguments.select)}, {json.dumps(arguments.to or arguments.select)}]"
            ".map(css => document.querySelector(css).getBoundingClientRect());"
            " return {x: Math.max(0, a.x + scrollX - 12), y: Math.max(0, a.y + scrollY - 12), width: a.width + 24,"
            " height: b.bottom - a.y + 24} })()")
        options["clip"] = {**box, "scale": 1}
        if arguments.most:
            options["clip"]["height"] = min(options["clip"]["height"], arguments.most)
    elif arguments.full:
        size = chromium.call("Page.getLayoutMetrics")["cssContentSize"]
        options["clip"] = {"x": 0, "y": 0, "width": arguments.width, "height": size["height"], "scale": 1}
    data = chromium.call("Page.captureScreenshot", **options)["data"]
    pathlib.Path(arguments.out).write_bytes(base64.b64decode(data))
    chromium.close()
    return 0


def paper(arguments):
    chromium = Browser()
    chromium.open(arguments.page, 1280, 900, False)
    pathlib.Path(arguments.out).write_bytes(chromium.pdf())
    chromium.close()
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check").add_argument("page")
    command = commands.add_parser("paper")
    command.add_argument("page")
    command.add_argument("out")
    command = commands.add_parser("image")
    command.add_argument("page")
    command.add_argument("out")
    command.add_argument("--width", type=int, default=1120)
    command.add_argument("--height", type=int, default=800)
    command.add_argument("--dark", action="store_true")
    command.add_argument("--full", action="store_true")
    command.add_argument("--select", metavar="CSS", help="only this element")
    command.add_argument("--to", metavar="CSS", help="down to the end of this element")
    command.add_argument("--click", metavar="CSS", help="click this element before")
    command.add_argument("--most", type=int, help="pixels of height at most")
    arguments = parser.parse_args()
    if arguments.command == "check":
        return check(arguments.page)
    return paper(arguments) if arguments.command == "paper" else image(arguments)


if __name__ == "__main__":
    sys.exit(main())

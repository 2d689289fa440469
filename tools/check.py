"""`cascade check`: look through a data folder before training on it."""

import argparse
import json
import sys
from pathlib import Path

from cascade.dataset import DatasetError, load
from cascade.dataset.formats import FORMATS
from cascade.dataset.images import hush
from cascade.dataset.preflight import Report, check

SHOWN = 5  # groups of copies


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(prog="cascade check", description=__doc__.split(": ", 1)[1])
    options.add_argument("data", type=Path, metavar="DATA", help="a folder, or an annotation file in one")
    options.add_argument("--format", choices=FORMATS, help="the label format; recognised if not given")
    options.add_argument("--class", dest="label", metavar="NAME", help="only objects of this class")
    options.add_argument("--threads", type=int, default=0, metavar="N",
                         help="threads to read with; 0, the default, takes all cores")  # fmt: skip
    options.add_argument("--json", action="store_true", help="print everything as JSON")
    return options


def main(argv: list[str]) -> int:
    """Read, check, print; 0 if there is something to use, 1 if not."""
    options = parser().parse_args(argv)
    hush()
    try:
        dataset = load(options.data, options.format)
        if options.label is not None:
            dataset = dataset.of_class(options.label)
        report = check(dataset, options.threads)
    except (DatasetError, ValueError) as error:
        print(f"cascade check: {printable(str(error))}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(report.to_json(), indent=1))
    else:
        for line in lines(report):
            print(printable(line))
    return 0 if report.usable.samples else 1


def lines(report: Report) -> list[str]:
    """The report as text: what is wrong first, since a long list would push the rest out of sight."""
    text = []
    for title, found in (("Pictures left out", report.unreadable), ("To look at", report.problems)):
        if found:
            text += [title, *(f"  {path}: {what}" for path, what in found), ""]
    return [*text, *_data(report), *_copies(report), *_outlook(report)]


def _data(report: Report) -> list[str]:
    data = report.usable
    text = ["Data", f"  format     {data.format}: {data.reason}"]
    text.append(f"  classes    {', '.join(data.classes) or 'none'}")
    for part, counts in report.counts.items():
        found = (f"{count:,} {what}" for what, count in counts.items() if count)
        text.append(f"  {part:<10} {', '.join(found)}")
    if report.unreadable or report.problems:
        broken, others = len(report.unreadable), len(report.problems)
        text.append(f"  problems   {broken:,} pictures left out, {others:,} other")
    for name, (low, _, median, _, high) in report.sizes.items():
        text.append(f"  {name:<15} {low:g} to {high:g}, median {median:g}")
    return text


def _copies(report: Report) -> list[str]:
    if not report.duplicates:
        return []
    text = [f"  copies     {len(report.duplicates):,} pictures are there more than once"]
    text += [f"             {' = '.join(group)}" for group in report.duplicates[:SHOWN]]
    if len(report.duplicates) > SHOWN:
        text.append(f"             and {len(report.duplicates) - SHOWN:,} more; --json lists all")
    if report.leaked:
        text.append(f"             {len(report.leaked):,} of train are in valid or test too: not trained on")
    return text


def _outlook(report: Report) -> list[str]:
    window = report.window
    text = ["", "Training", f"  window     {window.width} x {window.height} pixels: {window.why}"]
    text.append(f"  memory     about {max(1, report.memory >> 20):,} MB")
    if report.seconds is not None:
        text.append(f"  time       about {report.seconds:,.0f} s")
    text += [f"  note       {advice}" for advice in report.advice]
    return text


def printable(text: str) -> str:
    """Without what a file name could do to a terminal."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)

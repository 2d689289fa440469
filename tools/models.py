"""`cascade models`: the models that come with cascade."""

import argparse
import json
import sys
from textwrap import wrap

from cascade import shipped
from cascade.shipped import Card

WIDTH = 100  # of a line


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(prog="cascade models", description=__doc__.split(": ", 1)[1])
    how = options.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print the cards as JSON")
    how.add_argument("--markdown", action="store_true", help="print the page models/README.md")
    return options


def main(argv: list[str]) -> int:
    """Print them; 1 if a card is broken."""
    options = parser().parse_args(argv)
    try:
        cards = shipped.cards()
    except ValueError as error:
        print(f"cascade models: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps([{**vars(card), "bytes": size(card)} for card in cards], indent=1))
    elif options.markdown:
        print(shipped.markdown(cards, {card.name: size(card) for card in cards}), end="")
    else:
        print(text(cards))
    return 0


def size(card: Card) -> int:
    """Bytes of its model."""
    return shipped.locate(card.name).stat().st_size


def text(cards: list[Card]) -> str:
    """What there is, and how to use it."""
    if not cards:
        return "No models are shipped yet; train one: cascade train DATA --out RUN"
    blocks = []
    for card in cards:
        lines = wrap(f"{card.name} ({size(card):,} bytes): finds {card.finds}", WIDTH, subsequent_indent="  ")
        figures = [f"{name}: {value}" for name, value in card.figures.items()]
        for said in [*figures, f"trained on {card.trained_on}", f"not for {card.limits}"]:
            lines += wrap(said, WIDTH, initial_indent="  ", subsequent_indent="    ")
        blocks.append("\n".join(lines))
    return "\n\n".join([*blocks, f"next: cascade evaluate {cards[0].name} DATA"])

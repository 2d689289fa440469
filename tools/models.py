"""`cascade models`: the models that come with cascade."""

import argparse
import json
import sys

from cascade import shipped
from cascade.shipped import Card


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
        figures = [f"  {name:<40} {value}" for name, value in card.figures.items()]
        blocks.append("\n".join([f"{card.name}: finds {card.finds} ({size(card):,} bytes)", *figures,
                                 f"  trained on {card.trained_on}", f"  not for {card.limits}"]))  # fmt: skip
    return "\n\n".join([*blocks, f"next: cascade evaluate {cards[0].name} DATA"])

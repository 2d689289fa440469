"""The page itself: one file, no script, nothing from anywhere else."""

from collections.abc import Sequence
from dataclasses import dataclass

from cascade.reporting.text import escaped

STYLE = """
:root { color-scheme: light dark; --paper: #fdfdfc; --ink: #1d1f21; --soft: #666a70; --rule: #e3e3df;
  --a: #1f6fb2; --b: #c2571a; --c: #2d8a4e; --bad: #c2352b; --shade: #f3f3f0; }
@media (prefers-color-scheme: dark) { :root { --paper: #17191c; --ink: #e6e6e3; --soft: #9b9fa6;
  --rule: #33363b; --a: #6cb2ee; --b: #f0965a; --c: #6cc98d; --bad: #f07a70; --shade: #202327; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem 5rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; font-weight: 650; letter-spacing: -.01em;
  overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 3.25rem 0 .4rem; padding-top: 1.1rem; border-top: 1px solid var(--rule);
  font-weight: 650; }
h3 { font-size: .95rem; margin: 1.4rem 0 .35rem; font-weight: 600; }
p { max-width: 42rem; margin: .4rem 0 .9rem; overflow-wrap: anywhere; }
.lead { font-size: 1.1rem; color: var(--soft); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 1.1rem 1.5rem;
  margin: 1.8rem 0 1.2rem; padding: 0; }
.figures div { border-top: 2px solid var(--ink); padding-top: .45rem; display: flex;
  flex-direction: column-reverse; justify-content: flex-end; }
.figures dt { font-size: .82rem; color: var(--soft); line-height: 1.35; }
.figures dd { margin: 0; font-size: 1.75rem; font-weight: 650; letter-spacing: -.02em; line-height: 1.25;
  font-variant-numeric: tabular-nums; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr));
  gap: .4rem 2rem; }
figure { margin: 0; min-width: 0; }
figcaption { font-size: .82rem; color: var(--soft); line-height: 1.4; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font-size: 10.5px; fill: var(--soft); font-variant-numeric: tabular-nums; }
svg text.what { font-size: 11px; }
svg text.halo { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
.grid { stroke: var(--rule); fill: none; } .axis { stroke: var(--soft); fill: none; }
.line { fill: none; stroke-width: 1.75; stroke-linejoin: round; } .line.thin { stroke-width: 1; }
.line.a { stroke: var(--a); } .line.b { stroke: var(--b); } .line.c { stroke: var(--c); }
.line.quiet { stroke: var(--soft); stroke-width: 1.1; stroke-dasharray: 3 3; }
.line.b { stroke-dasharray: 6 2; } .line.c { stroke-width: 2.25; }
.area { stroke: none; opacity: .13; } .area.a { fill: var(--a); } .area.b { fill: var(--b); }
circle { fill: var(--paper); stroke: var(--a); stroke-width: 2; }
.strip + .legend { margin-top: .9rem; }
.legend { font-size: .82rem; color: var(--soft); margin: 0 0 .3rem; line-height: 1.4; }
.key { margin-right: 1rem; white-space: nowrap; }
.key::before { content: ""; display: inline-block; width: 1.1rem; border-top: 2.5px solid var(--soft);
  vertical-align: middle; margin-right: .4rem; }
.key.a::before { border-color: var(--a); }
.key.b::before { border-color: var(--b); border-top-style: dashed; }
.key.c::before { border-color: var(--c); } .key.quiet::before { border-top-style: dotted; }
.strip { display: grid; grid-template-columns: repeat(auto-fill, minmax(6.3rem, 1fr)); gap: .9rem .8rem; }
.strip small { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; opacity: .8; }
.thumb { background: var(--shade); overflow: hidden; border-radius: 3px; margin-bottom: .3rem; }
.box, .under { fill: none; stroke-width: 1.6; vector-effect: non-scaling-stroke; }
.under { stroke: #000; stroke-opacity: .4; stroke-width: 3; }
.box.found { stroke: #59d185; } .box.true { stroke: #fff; stroke-dasharray: 4 3; }
.box.false { stroke: #ff6f61; } .box.missed { stroke: #ffb84d; stroke-dasharray: 4 3; }
.row { display: flex; flex-wrap: wrap; gap: .9rem 1rem; margin: .8rem 0; }
.row .large { width: min(15rem, 100%); } .row .small { width: 6.3rem; }
.row { align-items: start; } .row svg { margin-bottom: .3rem; }
.row svg { background: var(--shade); border-radius: 3px; overflow: hidden; }
.wide { overflow-x: auto; margin: .6rem 0 1rem; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); font-size: .82rem; padding-bottom: .35rem; }
th, td { padding: .28rem .9rem .28rem 0; text-align: right; border-bottom: 1px solid var(--rule);
  font-weight: 400; vertical-align: top; white-space: nowrap; }
thead th { color: var(--soft); font-size: .82rem; } th:first-child { text-align: left; }
table.plain td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
.shaded td, .shaded thead th { padding: .3rem .7rem; min-width: 3.2rem; text-align: center; }
.good { background: color-mix(in srgb, var(--a) calc(var(--share) * .55), transparent); }
.bad { background: color-mix(in srgb, var(--bad) calc(var(--share) * .55), transparent); }
pre { background: var(--shade); padding: .8rem 1rem; border-radius: 4px; overflow-x: auto; font-size: .88rem;
  line-height: 1.5; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
summary { cursor: pointer; } ul { padding-left: 1.2rem; max-width: 42rem; } li { overflow-wrap: anywhere; }
footer { margin-top: 3rem; color: var(--soft); font-size: .82rem; }
@media print { body { font-size: 11pt; } h2, figure, tr { break-inside: avoid; } }
"""


@dataclass(frozen=True)
class Section:
    """A heading and what is below it, as HTML that is safe already."""

    title: str
    body: str


def page(title: str, lead: str, head: str, sections: Sequence[Section], footer: str) -> str:
    """The whole page; texts are escaped here, `head` and bodies are HTML."""
    parts = [
        f"<section><h2>{escaped(section.title)}</h2>{section.body}</section>"
        for section in sections
        if section.body
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "img-src data:; style-src 'unsafe-inline'\">"
        f"<title>{escaped(title)}</title><style>{STYLE}</style></head>\n"
        f'<body><main><header><h1>{escaped(title)}</h1><p class="lead">{escaped(lead)}</p>{head}</header>\n'
        + "\n".join(parts)
        + f"\n<footer>{escaped(footer)}</footer></main></body></html>\n"
    )


def alone(figure: str) -> str:
    """The drawing of a chart, as a file of its own."""
    drawing = figure[figure.index("<svg ") : figure.index("</svg>")].removeprefix("<svg ")
    start, rest = drawing.split(">", 1)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {start}><style>{STYLE}</style>{rest}</svg>\n'


def headline(figures: Sequence[tuple[str, str]]) -> str:
    """The few numbers that matter, large: (what, how much)."""
    rows = "".join(f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in figures)
    return f'<dl class="figures">{rows}</dl>'


def paragraph(text: str) -> str:
    return f"<p>{escaped(text)}</p>"


def listed(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escaped(line)}</li>' for line in lines)}</ul>" if lines else ""


def typed(lines: Sequence[str]) -> str:
    """Something to type."""
    return "<pre><code>" + "\n".join(escaped(line) for line in lines) + "</code></pre>"

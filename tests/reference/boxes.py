"""Twins of cascade/suppression.py: one pair of boxes at a time, in exact fractions."""

from fractions import Fraction
from math import floor


def area(box):
    left, top, right, bottom = box
    return (right - left) * (bottom - top)


def share(a, b, measure="iou"):
    """Intersection over union, or over the smaller area; 0 where there is no area."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return Fraction(0)
    shared = width * height
    whole = area(a) + area(b) - shared if measure == "iou" else min(area(a), area(b))
    return Fraction(shared, whole)


def rank(box, score):
    """The lowest is best."""
    left, top, right, bottom = box
    return -score, top, left, right - left, bottom - top


def suppress(boxes, scores, overlap=128, measure="iou"):
    kept = []
    for i in sorted(range(len(boxes)), key=lambda i: (*rank(boxes[i], scores[i]), i)):
        if all(share(boxes[i], boxes[k], measure) < Fraction(overlap, 256) for k in kept):
            kept.append(i)
    return kept


def group(boxes, scores, neighbours, overlap=128):
    """(box, score, count) of each group, best first."""
    groups = []
    left = list(range(len(boxes)))
    while left:
        members = [left.pop(0)]
        for i in members:  # grows while it is walked
            linked = [j for j in left if share(boxes[i], boxes[j]) >= Fraction(overlap, 256)]
            members += linked
            left = [j for j in left if j not in linked]
        if len(members) > neighbours:
            mean = [mean_of([boxes[i][edge] for i in members]) for edge in range(4)]
            groups.append((mean, max(scores[i] for i in members), len(members)))
    return sorted(groups, key=lambda one: (*rank(*one[:2]), -one[2]))


def mean_of(numbers):
    """To the nearest integer, halves up."""
    return floor(Fraction(sum(numbers), len(numbers)) + Fraction(1, 2))

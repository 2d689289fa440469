"""What a training run leaves in its folder, so that it can be taken up again after any interruption."""

from pathlib import Path
from typing import Any

import numpy as np

from cascade import checkpoint
from cascade.checkpoint import CheckpointError
from cascade.recipe import TrainingSettings
from cascade.sampling import Windows
from cascade.version import VERSION


class TrainingFile:
    """The negatives that each stage starts from; the booster writes its own file beside them."""

    def __init__(self, folder: Path, data: str, settings: TrainingSettings) -> None:
        self.folder = Path(folder)
        self.identity = {"version": VERSION, "settings": settings.to_json(), "data": data}
        self.folder.mkdir(parents=True, exist_ok=True)

    def boosting(self, stage: int) -> Path:
        return self.folder / f"stage-{stage}.boosting"

    def _negatives(self, stage: int) -> Path:
        return self.folder / f"stage-{stage}.negatives"

    def save(self, stage: int, negatives: Windows, facts: dict[str, Any]) -> None:
        """A stage is about to be boosted; what the stage before it needed may go."""
        checkpoint.save(self._negatives(stage), {**self.identity, **facts}, {"negatives": negatives})
        for path in (self._negatives(stage - 1), self.boosting(stage - 1)):
            path.unlink(missing_ok=True)

    def restore(self, stages: int) -> tuple[int, Windows, dict[str, Any]] | None:
        """The last stage that was begun, if any. CheckpointError if it is of other data or settings."""
        for stage in reversed(range(stages)):
            path = self._negatives(stage)
            if path.exists():
                facts, arrays = checkpoint.load(path)
                for name, mine in self.identity.items():
                    if facts.get(name) != mine:
                        raise CheckpointError(
                            f"{self.folder} holds a run with other {name}; delete it, or give another folder"
                        )
                return stage, np.array(arrays["negatives"]), facts
        return None

"""What an export says when it cannot do what was asked."""


class ExportError(ValueError):
    """The model or a setting cannot be had in this format, or the file is in the way; nothing was written."""

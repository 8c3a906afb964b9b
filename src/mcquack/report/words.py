"""How counts, times and chances are told on pages and in tables."""


def chance(p_value: float) -> str:
    """A p value as it is usually told."""
    return "p\u00a0<\u00a00.001" if p_value < 0.001 else f"p\u00a0=\u00a0{p_value:.3f}"


def counted(count: int, noun: str) -> str:
    """As "1 model" and "2 models"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def duration(seconds: float) -> str:
    """In the largest unit that leaves a number above one, or nearly so."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * length:
            count = seconds / length
            return f"{count:.{1 if count < 10 else 0}f} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def moment(iso: str | None) -> str:
    """A time of the store as people read it."""
    return (iso or "").replace("T", " ").replace("+00:00", " UTC")

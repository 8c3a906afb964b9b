"""How wide two hidden layers must be for a given number of parameters."""

from mcquack.checks import required_count


def perceptron_parameters(n_features: int, n_outputs: int, hidden: tuple[int, int]) -> int:
    """Weights and biases: (d + 1)·h₁ + (h₁ + 1)·h₂ + (h₂ + 1)·o."""
    first, second = hidden
    return (n_features + 1) * first + (first + 1) * second + (second + 1) * n_outputs


def matched_layers(n_features: int, n_outputs: int, target: int) -> tuple[int, int]:
    """Widths with which the number of parameters is least, but not below the target.

    No layer is narrower than the outputs (or than two) if the network with both layers that narrow keeps within the
    target. Of pairs with the same count the most balanced is taken, and then the one with the wider first layer.
    """
    d, o, target = (
        required_count(name, value)
        for name, value in (("n_features", n_features), ("n_outputs", n_outputs), ("target", target))
    )
    narrowest = max(o, 2)
    if perceptron_parameters(d, o, (narrowest, narrowest)) > target:
        narrowest = 1

    def least(first: int) -> tuple[int, int]:
        """The narrowest second layer that reaches the target with this first one."""
        return first, max(narrowest, -((o + (d + 1) * first - target) // (first + 1 + o)))

    pairs = map(least, range(narrowest, max(narrowest, -(-target // (d + 1))) + 1))
    return min(pairs, key=lambda pair: (perceptron_parameters(d, o, pair), abs(pair[0] - pair[1]), -pair[0]))

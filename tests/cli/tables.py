"""Tables that tests of the command line share."""

import csv
import io


def two_classes(*, labels=("low", "high"), n_each=6, delimiter=","):
    """Rows of x, colour and label that any classifier tells apart."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["x", "colour", "label"])
    for index in range(n_each):
        writer.writerow([index / 10, "red", labels[0]])
        writer.writerow([5 + index / 10, "blue", labels[1]])
    return text.getvalue()

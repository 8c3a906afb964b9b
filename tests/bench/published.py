"""A small file of published settings, in the place of the one that is not part of the project."""

import gzip
from dataclasses import replace

from mcquack.bench.ranking import published

HEADER = "family,n,dataset,model,hyperparameter,best_value"
LINES = (
    "two_curves,2,any,SVC,C,10.0",
    "two_curves,2,any,SVC,gamma,1.0",
    "two_curves,3,any,SVC,C,1.0",
    "two_curves,3,any,SVC,gamma,0.1",
    "two_curves,3,any,SVC,max_vmap,1.0",
    "two_curves,3,any,MLPClassifier,alpha,0.01",
    "two_curves,3,any,MLPClassifier,batch_size,16.0",
    'two_curves,3,any,MLPClassifier,hidden_layer_sizes,"(5, 4)"',
    "two_curves,3,any,MLPClassifier,learning_rate_init,1",
    "two_curves,3,any,NobodyKnowsIt,depth,3",
    "bars_and_stripes,16,any,SVC,C,1.0",
)


def written(folder, monkeypatch, *, lines=LINES):
    """The folder with such a file, which its checksum would refuse."""
    monkeypatch.setattr(published, "SETTINGS", replace(published.SETTINGS, checksum=None, n_bytes=None))
    path = folder / published.SETTINGS.path
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress("\n".join([HEADER, *lines, ""]).encode()))
    return folder

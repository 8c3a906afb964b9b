"""Where the files of a dataset are: in a folder of the user's, in the cache, or still on a server."""

from mcquack.checks import HDF5, Extra
from mcquack.datasets.files.data_file import DataFile, Source
from mcquack.datasets.files.download import Patience
from mcquack.datasets.files.places import Found, Places, places

__all__ = ["HDF5", "DataFile", "Extra", "Found", "Patience", "Places", "Source", "places"]

from mcquack import bench as bench
from mcquack import circuits as circuits
from mcquack import datasets as datasets
from mcquack import hardware as hardware
from mcquack import kernels as kernels
from mcquack import models as models
from mcquack import report as report
from mcquack import simulators as simulators
from mcquack import studies as studies
from mcquack import training as training
from mcquack.circuits import FeatureMap as FeatureMap
from mcquack.hardware import label as label
from mcquack.hardware import open_device as open_device
from mcquack.hardware import open_sampler as open_sampler
from mcquack.models import McQuackClassifier as McQuackClassifier
from mcquack.models import McQuackClassifierCV as McQuackClassifierCV
from mcquack.models import QuackClassifier as QuackClassifier
from mcquack.models import load as load

__version__: str

// The modules in one shared library, which the programs of the tests link.
import Accelerate
import Vision

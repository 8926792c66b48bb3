// The interface is implemented in Swift (KelvinC). This holds the header to standing by itself in C.
#include "kelvin.h"

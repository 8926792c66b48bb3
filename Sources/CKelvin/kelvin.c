// The interface is implemented in Swift (KelvinC). This file checks that the header compiles as C on its own.
#include "kelvin.h"

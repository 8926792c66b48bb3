#include "CKelvinKernels.h"

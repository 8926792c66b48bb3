#include "CKelvinDrivers.h"

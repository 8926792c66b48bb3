#include "CKelvinShaders.h"

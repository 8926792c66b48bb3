/* The same kernels as avx512_amx.c by the emulated unit. */
#define CK_LANES 4
#define CK_TILES_EMULATED
#define CK_NAME(kernel) kernel##__tiles
#include "tile_products.h"

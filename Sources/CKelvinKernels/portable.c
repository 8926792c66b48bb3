#define CK_VARIANT "portable"
#define CK_LANES 4
#define CK_INTEGER_GROUP 2
#define CK_NAME(kernel) kernel##__portable
#include "kernels.h"

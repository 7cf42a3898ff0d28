/* Calls with the cells of the seed. */
#include "device/view.h"

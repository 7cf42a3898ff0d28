/* The words for what a wait covers. */
#include "finding/port.h"

const char *port_cover_name(PortCover cover) {
    static const char *const names[] = {"enough", "too little", "not known", "more than needed"}; /* ORDER PortCover */
    return names[cover];
}

/* The words of PTX's memory consistency model: what an access does, its order, its scope and its proxy. One set for all
 * floors, and for code that runs on a device: recordings and cells of shadow memory have these numbers. */
#ifndef BASE_CONSISTENCY_H
#define BASE_CONSISTENCY_H

#include <stdbool.h>

typedef enum AccessKind { KIND_READ, KIND_WRITE, KIND_UPDATE } AccessKind;
typedef enum Order { ORDER_WEAK, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL } Order;
/* From the narrowest on. */
typedef enum Scope { SCOPE_NONE, SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS } Scope;
/* Those behind PROXY_TENSORMAP are of PTX alone; an alias is another address of the same memory. */
typedef enum Proxy {
    PROXY_GENERIC,
    PROXY_ASYNC,
    PROXY_TENSORMAP,
    PROXY_TEXTURE,
    PROXY_SURFACE,
    PROXY_ALIAS,
    PROXIES
} Proxy;

static inline bool order_acquires(unsigned order) {
    return order == ORDER_ACQUIRE || order == ORDER_ACQ_REL;
}
static inline bool order_releases(unsigned order) {
    return order == ORDER_RELEASE || order == ORDER_ACQ_REL;
}

#endif

/* Under the sanitizers, where a program takes several times as long, a share of random ones is enough. */
#ifndef UNIT_SHARE_H
#define UNIT_SHARE_H

#ifdef __SANITIZE_ADDRESS__
enum { SHARE = 5 };
#else
enum { SHARE = 1 };
#endif

#endif

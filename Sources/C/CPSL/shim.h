// libpsl: the Public Suffix List (publicsuffix.org).
#ifndef SALLYPORT_CPSL_H
#define SALLYPORT_CPSL_H

#include <libpsl.h>

#endif

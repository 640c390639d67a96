// SQLite, and the two destructor constants that Swift does not import.
#ifndef SALLYPORT_CSQLITE_H
#define SALLYPORT_CSQLITE_H

#include <sqlite3.h>

/// The bytes stay valid until the statement is stepped or reset.
static inline sqlite3_destructor_type sqlite_static(void) { return SQLITE_STATIC; }
/// SQLite makes its own copy of the bytes.
static inline sqlite3_destructor_type sqlite_transient(void) { return SQLITE_TRANSIENT; }

#endif

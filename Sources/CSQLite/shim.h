// SQLite, the two destructor constants that Swift does not import, and its variadic functions.
#ifndef SALLYPORT_CSQLITE_H
#define SALLYPORT_CSQLITE_H

#include <sqlite3.h>

/// The bytes stay valid until the statement is stepped or reset.
static inline sqlite3_destructor_type sqlite_static(void) { return SQLITE_STATIC; }
/// SQLite makes its own copy of the bytes.
static inline sqlite3_destructor_type sqlite_transient(void) { return SQLITE_TRANSIENT; }

/// Turns off the statistics of memory, for which every allocation takes a global lock; to be called
/// before anything else of SQLite.
static inline int sqlite_without_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// Keeps what a hostile file's schema can do to a minimum.
static inline int sqlite_make_defensive(sqlite3 *database) {
    int result = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (result != SQLITE_OK) return result;
    return sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
}

#endif

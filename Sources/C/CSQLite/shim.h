// SQLite, the two destructor constants that Swift does not import, and its variadic functions.
#ifndef SALLYPORT_CSQLITE_H
#define SALLYPORT_CSQLITE_H

#include <stddef.h>
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

/// Reads the first bytes of the database's main file as they are on disk, through SQLite's own
/// descriptor.
static inline int sqlite_read_start(sqlite3 *database, void *bytes, int count) {
    sqlite3_file *file = NULL;
    int result = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (result != SQLITE_OK) return result;
    if (file == NULL || file->pMethods == NULL) return SQLITE_CANTOPEN;
    return file->pMethods->xRead(file, bytes, count, 0);
}

#endif

internal import Base

/// The layout of a capture file, as `Documentation/capture-file.md` tells it.
enum Schema {
    /// "SLPT": how a capture is told from other SQLite files.
    static let applicationID: Int64 = 0x534C_5054

    /// The SQL that leads from each version to the next; the n-th makes version n + 1.
    ///
    /// A step that was released is never edited.
    static let migrations: [String] = [
        version1Tables + version1Views, version2, version3, version4,
    ]

    static var version: Int64 { Int64(migrations.count) }

    private static let version1Tables = """
        CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;

        CREATE TABLE connection(
            id INTEGER PRIMARY KEY, opened_us INTEGER NOT NULL, closed_us INTEGER,
            client TEXT NOT NULL, listener TEXT NOT NULL, mode TEXT NOT NULL,
            origin_host TEXT NOT NULL, origin_port INTEGER NOT NULL, origin_address TEXT,
            origin_reused INTEGER NOT NULL,
            client_received INTEGER NOT NULL, client_sent INTEGER NOT NULL,
            origin_received INTEGER NOT NULL, origin_sent INTEGER NOT NULL,
            protocol TEXT NOT NULL, exchanges INTEGER NOT NULL, outcome TEXT NOT NULL,
            cause TEXT NOT NULL, closed_by TEXT);

        CREATE TABLE certificate(
            id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, der BLOB NOT NULL);

        CREATE TABLE client_tls(
            connection INTEGER PRIMARY KEY, version TEXT, cipher TEXT, alpn TEXT, sni TEXT,
            ja3 TEXT, ja4 TEXT, resumed INTEGER NOT NULL, completed INTEGER NOT NULL,
            verify_error TEXT, chain TEXT, alerts TEXT, key_log TEXT, client_hello BLOB);

        CREATE TABLE origin_tls(
            connection INTEGER PRIMARY KEY, version TEXT, cipher TEXT, alpn TEXT, sni TEXT,
            ja3 TEXT, ja4 TEXT, resumed INTEGER NOT NULL, completed INTEGER NOT NULL,
            verify_error TEXT, chain TEXT, alerts TEXT, key_log TEXT, client_hello BLOB);

        CREATE TABLE exchange(
            id INTEGER PRIMARY KEY, connection INTEGER NOT NULL, started_us INTEGER NOT NULL,
            duration_us INTEGER, first_byte_us INTEGER, scheme TEXT, authority TEXT, method TEXT,
            target TEXT, status INTEGER, protocol TEXT, request_size INTEGER,
            response_size INTEGER, request_truncated INTEGER, response_truncated INTEGER,
            request_chunks INTEGER, response_chunks INTEGER, request_body INTEGER,
            response_body INTEGER, error TEXT, error_detail TEXT, answered_by_tool INTEGER,
            interims INTEGER, request_trailers BLOB, response_trailers BLOB, request_head BLOB,
            response_head BLOB);

        CREATE TABLE interim(
            exchange INTEGER NOT NULL, position INTEGER NOT NULL, head BLOB,
            PRIMARY KEY(exchange, position)) WITHOUT ROWID;

        CREATE TABLE chunk(
            id INTEGER PRIMARY KEY, hash BLOB NOT NULL, size INTEGER NOT NULL,
            coding INTEGER NOT NULL, bytes BLOB NOT NULL);
        CREATE INDEX chunk_hash ON chunk(hash) WHERE size >= 4096;

        CREATE TABLE part(
            exchange INTEGER NOT NULL, direction TEXT NOT NULL, sequence INTEGER NOT NULL,
            chunk INTEGER NOT NULL, PRIMARY KEY(exchange, direction, sequence)) WITHOUT ROWID;

        """

    private static let version1Views = """
        CREATE VIEW tls AS
            SELECT connection, 'client' AS leg, version, cipher, alpn, sni, ja3, ja4, resumed,
                completed, verify_error, chain, alerts, key_log, client_hello FROM client_tls
            UNION ALL
            SELECT connection, 'origin', version, cipher, alpn, sni, ja3, ja4, resumed,
                completed, verify_error, chain, alerts, key_log, client_hello FROM origin_tls;

        CREATE VIEW chain(connection, leg, position, certificate) AS
            SELECT connection, leg, entry.key, entry.value FROM tls, json_each(tls.chain) AS entry;

        CREATE VIEW body(exchange, direction, sequence, chunk) AS
            SELECT exchange, direction, sequence, chunk FROM part
            UNION ALL SELECT id, 'request', 0, request_body FROM exchange
                WHERE request_body IS NOT NULL
            UNION ALL SELECT id, 'response', 0, response_body FROM exchange
                WHERE response_body IS NOT NULL;

        CREATE VIEW flow AS
            SELECT id, connection,
                strftime('%Y-%m-%dT%H:%M:%fZ', started_us / 1000000.0, 'unixepoch') AS started,
                duration_us / 1000.0 AS duration_ms, method,
                CASE
                    WHEN substr(target, 1, 1) = '/' THEN scheme || '://' || authority || target
                    WHEN target = '*' OR method = 'CONNECT' THEN scheme || '://' || authority
                    ELSE target END AS url,
                status, protocol, request_size, response_size, error
            FROM exchange;

        CREATE VIEW header(exchange, direction, position, name, value) AS
            WITH head(exchange, direction, bytes) AS (
                SELECT id, 'request', request_head FROM exchange WHERE request_head IS NOT NULL
                UNION ALL
                SELECT id, 'response', response_head FROM exchange
                    WHERE response_head IS NOT NULL),
            line(exchange, direction, position, bytes) AS (
                SELECT exchange, direction, entry.key,
                    substr(bytes, entry.value >> 32, entry.value & 4294967295)
                FROM head, json_each((
                    WITH RECURSIVE step(start, size) AS (
                        SELECT 1, instr(bytes, x'0A')
                        UNION ALL
                        SELECT start + size, instr(substr(bytes, start + size), x'0A')
                        FROM step WHERE size > 0)
                    SELECT '[' || coalesce(group_concat((start << 32) + size), '') || ']' FROM step
                    WHERE start > 1 AND size > 2)) AS entry),
            split(exchange, direction, position, bytes, colon) AS (
                SELECT exchange, direction, position, bytes,
                    CASE WHEN substr(bytes, 1, 1) IN (x'09', x'20') THEN 0
                    ELSE instr(bytes, x'3A') END FROM line)
            SELECT exchange, direction, position,
                CASE WHEN colon > 0 THEN CAST(substr(bytes, 1, colon - 1) AS TEXT) END
                    COLLATE NOCASE,
                trim(CAST(substr(bytes, colon + 1) AS TEXT), char(9, 10, 13, 32))
            FROM split;
        """
}

extension Schema {
    /// Messages, and what connections and exchanges need for them, for HTTP/2 and for processes.
    static let version2 = """
        ALTER TABLE connection ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE connection ADD COLUMN upgrade TEXT;
        ALTER TABLE connection ADD COLUMN process_id INTEGER;
        ALTER TABLE connection ADD COLUMN process_executable TEXT;
        ALTER TABLE connection ADD COLUMN process_arguments TEXT;
        ALTER TABLE connection ADD COLUMN notes TEXT;
        ALTER TABLE exchange ADD COLUMN stream INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE exchange ADD COLUMN origin_protocol TEXT;

        CREATE TABLE message(
            connection INTEGER NOT NULL, number INTEGER NOT NULL, part INTEGER NOT NULL,
            exchange INTEGER, at_us INTEGER NOT NULL, direction TEXT NOT NULL, kind TEXT NOT NULL,
            size INTEGER NOT NULL, bytes BLOB, chunk INTEGER, offset INTEGER,
            is_last INTEGER NOT NULL, truncated INTEGER NOT NULL, detail TEXT,
            PRIMARY KEY(connection, number, part)) WITHOUT ROWID;
        CREATE INDEX message_exchange ON message(exchange) WHERE exchange IS NOT NULL;

        CREATE VIEW message_text AS
            SELECT connection, number, part, exchange,
                strftime('%Y-%m-%dT%H:%M:%fZ', at_us / 1000000.0, 'unixepoch') AS at, direction,
                kind, message.size,
                CAST(CASE WHEN chunk IS NULL THEN message.bytes ELSE content.bytes END AS TEXT)
                    AS text, detail
            FROM message LEFT JOIN chunk AS content ON content.id = message.chunk;
        """
}

extension Schema {
    /// What was sent where it differs from what came, what a list shows, and the journal of changes.
    static let version3 = """
        ALTER TABLE connection ADD COLUMN policy_version INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE exchange ADD COLUMN content_type TEXT;
        ALTER TABLE exchange ADD COLUMN grpc_status INTEGER;
        ALTER TABLE exchange ADD COLUMN request_sent BLOB;
        ALTER TABLE exchange ADD COLUMN response_sent BLOB;

        CREATE TABLE change(number INTEGER PRIMARY KEY, connections TEXT, exchanges TEXT);

        INSERT INTO meta SELECT 'cut_behind', 0 WHERE EXISTS (SELECT 1 FROM exchange);
        """
}

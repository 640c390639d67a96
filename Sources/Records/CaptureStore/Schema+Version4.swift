extension Schema {
    /// What clients presented.
    static let version4 = """
        ALTER TABLE client_tls ADD COLUMN client_chain TEXT;
        ALTER TABLE origin_tls ADD COLUMN client_chain TEXT;
        """
}

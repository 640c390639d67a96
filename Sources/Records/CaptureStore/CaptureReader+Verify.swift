internal import Base

extension CaptureReader {
    /// Looks for damage: in the file's structure, and in what its rows say of each other.
    ///
    /// - Returns: what is wrong, in words for a person, 20 of each kind at most; empty for a sound
    ///   capture. Takes time proportional to the file.
    package func verify() throws -> [String] {
        var problems: [String] = []
        try withStatement("PRAGMA integrity_check(20)") { row in
            while try row.next() {
                let text = row.text()
                if text != "ok" { problems.append(text) }
            }
        }
        for invariant in invariants + (version < 2 ? [] : messageInvariants) {
            try withStatement(invariant.violations + " LIMIT 20") { row in
                while try row.next() { problems.append("\(row.text()) \(invariant.complaint)") }
            }
        }
        return problems
    }
}

/// Something that holds in every sound capture.
private struct Invariant {
    /// What is wrong if it does not hold.
    let complaint: String
    /// Yields the name of each thing that it does not hold for.
    let violations: String
}

private let invariants = [
    Invariant(
        complaint: "refers to content that is missing",
        violations: """
            SELECT 'exchange ' || exchange FROM body
            WHERE NOT EXISTS (SELECT 1 FROM chunk WHERE id = body.chunk)
            """),
    Invariant(
        complaint: "has content in one piece and in parts",
        violations: """
            SELECT DISTINCT 'exchange ' || exchange FROM part JOIN exchange ON id = exchange
            WHERE iif(direction = 'request', request_body, response_body) IS NOT NULL
            """),
    Invariant(
        complaint: "has content and is missing",
        violations: """
            SELECT DISTINCT 'exchange ' || exchange FROM part
            WHERE NOT EXISTS (SELECT 1 FROM exchange WHERE id = part.exchange)
            """),
    Invariant(
        complaint: "lacks parts of its content",
        violations: """
            SELECT 'exchange ' || exchange FROM part GROUP BY exchange, direction
            HAVING count(*) <> max(sequence) + 1
            """),
    Invariant(
        complaint: "has more or less content than passed",
        violations: """
            SELECT 'exchange ' || exchange.id FROM exchange
            WHERE duration_us IS NOT NULL AND (
                (NOT request_truncated AND request_size <> (
                    SELECT coalesce(sum(size), 0) FROM body JOIN chunk ON chunk.id = body.chunk
                    WHERE exchange = exchange.id AND direction = 'request'))
                OR (NOT response_truncated AND response_size <> (
                    SELECT coalesce(sum(size), 0) FROM body JOIN chunk ON chunk.id = body.chunk
                    WHERE exchange = exchange.id AND direction = 'response')))
            """),
    Invariant(
        complaint: "is not as long as it says",
        violations: "SELECT 'chunk ' || id FROM chunk WHERE coding = 0 AND size <> length(bytes)"),
    Invariant(
        complaint: "has TLS and is missing",
        violations: """
            SELECT 'connection ' || connection FROM tls
            WHERE NOT EXISTS (SELECT 1 FROM connection WHERE id = tls.connection)
            """),
    Invariant(
        complaint: "refers to a certificate that is missing",
        violations: """
            SELECT 'connection ' || connection FROM chain
            WHERE NOT EXISTS (SELECT 1 FROM certificate WHERE id = chain.certificate)
            """),
]

/// What a message is called in SQL, its connection and number with it.
private let messageName =
    "'message ' || message.number || ' of connection ' || message.connection"

private let messageInvariants = [
    Invariant(
        complaint: "refers to content that is missing",
        violations: """
            SELECT \(messageName) FROM message
            WHERE message.chunk IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM chunk WHERE id = message.chunk)
            """),
    Invariant(
        complaint: "has its content in two places",
        violations: """
            SELECT \(messageName) FROM message
            WHERE (bytes IS NOT NULL) + (chunk IS NOT NULL) + (offset IS NOT NULL) > 1
            """),
    Invariant(
        complaint: "has more or less content than passed",
        violations: """
            SELECT \(messageName) FROM message LEFT JOIN chunk ON chunk.id = message.chunk
            WHERE offset IS NULL AND (message.chunk IS NULL OR chunk.id IS NOT NULL)
                AND CASE WHEN truncated
                    THEN message.size < coalesce(chunk.size, length(message.bytes), 0)
                    ELSE message.size <> coalesce(chunk.size, length(message.bytes), 0) END
            """),
    Invariant(
        complaint: "lacks parts",
        violations: """
            SELECT \(messageName) FROM message GROUP BY connection, number
            HAVING count(*) <> max(part) + 1
            """),
    Invariant(
        complaint: "belongs to an exchange of another connection",
        violations: """
            SELECT \(messageName) FROM message JOIN exchange ON exchange.id = message.exchange
            WHERE exchange.connection NOT IN (0, message.connection)
            """),
]

package import Traffic

extension CaptureReader {
    package var digestName: String? {
        get throws {
            try withStatement("SELECT value FROM meta WHERE key = 'digest'") { row in
                try row.next() ? row.optionalText() : nil
            }
        }
    }

    /// Calls `visit` with the digest of each part of each content, until it returns false: by rising
    /// exchange, the contents of one chunk before those of several.
    ///
    /// Errors: `capture-unreadable`.
    package func contentDigests(_ visit: (ContentDigest) throws -> Bool) throws {
        let whole =
            "SELECT exchange.id, request.hash, response.hash FROM exchange "
            + "LEFT JOIN chunk AS request ON request.id = request_body "
            + "LEFT JOIN chunk AS response ON response.id = response_body "
            + "WHERE request_body IS NOT NULL OR response_body IS NOT NULL ORDER BY exchange.id"
        let wantsMore = try withStatement(whole) { row in
            while try row.next() {
                let id = row.integer()
                for direction in [Direction.request, .response] {
                    let bytes = row.bytes()
                    guard !bytes.isEmpty else { continue }
                    let digest = ContentDigest(exchange: id, direction: direction, bytes: bytes)
                    guard try visit(digest) else { return false }
                }
            }
            return true
        }
        guard wantsMore else { return }
        let parts =
            "SELECT exchange, direction = 'response', hash FROM part JOIN chunk ON id = chunk "
            + "ORDER BY exchange, direction, sequence"
        try withStatement(parts) { row in
            while try row.next() {
                let digest = ContentDigest(
                    exchange: row.integer(), direction: row.boolean() ? .response : .request,
                    bytes: row.bytes())
                guard try visit(digest) else { return }
            }
        }
    }
}

internal import Base
internal import Contents
internal import Traffic

extension OpenTransfer {
    /// What became of it: contents are compared and digested now.
    func closed(_ contents: TransferContents) throws -> Transfer {
        if !numbered.isEmpty || method == .s3Multipart && isFinished { layOutNumbered() }
        let first = parts.first { $0.method != "HEAD" }
        if versions.isEmpty {
            versions.append(OpenVersion(map: ByteMap(limit: limits.stretches)))
        }
        var parts = parts
        for (index, claims) in contentClaims {
            parts[index].digests = try check(claims, of: parts[index], contents)
        }
        let versions = try versions.map { try closed($0, contents) }
        return Transfer(
            id: id, direction: direction, method: method, client: client,
            httpMethod: first?.method ?? httpMethod, url: resourceURL, uploadURL: uploadURL,
            state: state(versions), parts: parts, leftOut: leftOut,
            versions: versions,
            notes: notes)
    }

    private var resourceURL: [UInt8] {
        method == .s3Multipart ? URLReference.withoutQuery(url) : url
    }

    private var uploadURL: [UInt8]? {
        switch method {
        case .http: nil
        case .s3Multipart: key.url
        case .tus, .resumableUpload, .contentRange:
            key.url == URLReference.normalized(url) ? nil : key.url
        }
    }

    private func state(_ versions: [TransferVersion]) -> TransferState {
        if versions.contains(where: { $0.state == .conflicting }) { return .conflicting }
        if isCancelled { return .cancelled }
        if zip(self.versions, versions).count(where: { $0.0.isFirm }) > 1 { return .changed }
        return versions[versions.count - 1].state
    }

    private func closed(
        _ version: OpenVersion, _ contents: TransferContents
    ) throws -> TransferVersion {
        let comparison = try contents.compare(version.map.overlaps, direction)
        if !comparison.isWhole { note(.notCompared) }
        let isComplete = version.isComplete && (direction == .response || isFinished)
        let claims = version.identity.digests
        var hash = WholeHash.none(.incomplete)
        var digests = claims.map {
            DigestCheck(field: $0.field, algorithm: $0.algorithm, outcome: .unchecked)
        }
        if !comparison.conflicting.isEmpty {
            hash = .none(.conflicting)
        } else if version.isUnreadable {
            hash = .none(.notRecorded)
        } else if isComplete {
            let algorithms = Set(claims.map(\.algorithm)).union([.hash(.sha256)])
            let found = try contents.digests(of: version.map.stretches, direction, algorithms)
            hash = found?[.hash(.sha256)].map(WholeHash.sha256) ?? .none(.notRecorded)
            digests = claims.map { Self.check($0, found) }
        }
        return TransferVersion(
            identity: version.identity,
            state: state(version, isComplete: isComplete, isSame: comparison.conflicting.isEmpty),
            total: version.total, sameness: version.sameness, held: version.map.held,
            missing: version.total.map { version.map.missing(of: $0) } ?? [],
            twice: version.map.twice, conflicting: comparison.conflicting, hash: hash,
            digests: digests)
    }

    private func state(
        _ version: OpenVersion, isComplete: Bool, isSame: Bool
    ) -> TransferState {
        if !isSame { return .conflicting }
        if isComplete { return .complete }
        // What a server took may be something although nobody can tell how much.
        return version.map.stretches.isEmpty && !isFinished ? .failed : .partial
    }

    /// Checks digests of one message's content.
    private func check(
        _ claims: [ClaimedDigest], of part: TransferPart, _ contents: TransferContents
    ) throws -> [DigestCheck] {
        func find(
            _ ofField: (ClaimedDigest.Field) -> Bool, _ count: Int64, _ form: ContentForm
        ) throws -> [ClaimedAlgorithm: [UInt8]]? {
            let algorithms = Set(claims.filter { ofField($0.field) }.map(\.algorithm))
            guard !part.endedEarly, count > 0, !algorithms.isEmpty else { return nil }
            let source = ByteSource(
                exchange: part.exchange, contentOffset: 0, position: 0, form: form)
            let whole = ByteMap.Stretch(range: 0..<count, source: source)
            return try contents.digests(of: [whole], direction, algorithms)
        }
        // The framing is a part of the content (RFC 9530 §2).
        let framed = try find({ $0 == .content }, part.framedBytes ?? part.bytes, .plain)
        let stored = try find({ $0 != .content }, part.bytes, part.form)
        return claims.map { Self.check($0, $0.field == .content ? framed : stored) }
    }

    private static func check(
        _ claim: ClaimedDigest, _ found: [ClaimedAlgorithm: [UInt8]]?
    ) -> DigestCheck {
        let outcome: DigestCheck.Outcome =
            switch found?[claim.algorithm] {
            case nil: .unchecked
            case claim.bytes?: .match
            default: .mismatch
            }
        return DigestCheck(field: claim.field, algorithm: claim.algorithm, outcome: outcome)
    }
}

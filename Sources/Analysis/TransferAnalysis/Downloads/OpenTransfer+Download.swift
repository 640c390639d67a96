internal import Base
internal import Traffic

extension OpenTransfer {
    /// Takes what one more GET or HEAD brought.
    func take(_ answer: DownloadResponse, _ contents: TransferContents) throws {
        if answer.isNotable { isNotable = true }
        var part = answer.part
        if answer.identity != nil || answer.total != nil {
            part.version = try version(for: answer, contents)
            if let index = part.version { add(answer, to: index) }
        }
        append(part, claims: answer.contentClaims)
    }

    /// Which version an answer is about, a new one if none of those known can be it; `nil` if it
    /// tells too little.
    private func version(for answer: DownloadResponse, _ contents: TransferContents) throws -> Int?
    {
        var found: (index: Int, sameness: Sameness)?
        var reason = ""
        for index in versions.indices.reversed() {
            switch compare(versions[index], answer) {
            case .changed(let why):
                if index == versions.count - 1 { reason = why }
            case .same(let sameness):
                if found == nil || sameness.isProof { found = (index, sameness) }
            }
            if found?.sameness.isProof == true { break }
        }
        if let (index, sameness) = found {
            guard try isRestart(answer, of: versions[index], sameness, contents) else {
                return join(index, sameness, answer)
            }
            reason = "content"
        }
        return start(answer, instead: reason)
    }

    /// Whether a whole that is not known to be the same version brings other bytes: then what came
    /// before it was of no use.
    private func isRestart(
        _ answer: DownloadResponse, of version: OpenVersion, _ sameness: Sameness,
        _ contents: TransferContents
    ) throws -> Bool {
        guard answer.isWhole, !sameness.isProof, let piece = answer.pieces.first else {
            return false
        }
        let source = ByteSource(
            exchange: answer.part.exchange, contentOffset: piece.contentOffset,
            position: piece.range.lowerBound)
        let overlaps = version.map.overlaps(of: piece.range, from: source)
        return try !contents.compare(overlaps, direction).conflicting.isEmpty
    }

    private func join(_ index: Int, _ sameness: Sameness, _ answer: DownloadResponse) -> Int {
        if !versions[index].map.stretches.isEmpty, !answer.pieces.isEmpty {
            versions[index].sameness = max(versions[index].sameness ?? .strongTag, sameness)
        }
        return index
    }

    private func start(_ answer: DownloadResponse, instead reason: String) -> Int? {
        if let last = versions.last {
            if answer.isProbe { return nil }
            if last.isFirm {
                note(.changed, reason)
            } else {
                dropLastVersion()
            }
        }
        guard versions.count < limits.versions else {
            note(.tooManyVersions)
            return nil
        }
        var version = OpenVersion(map: ByteMap(limit: limits.stretches))
        version.isFirm = !answer.isProbe
        versions.append(version)
        return versions.count - 1
    }

    private func add(_ answer: DownloadResponse, to index: Int) {
        if let identity = answer.identity {
            if versions[index].isKnown {
                versions[index].identity.complete(from: identity)
            } else {
                versions[index].identity = identity
            }
        }
        versions[index].total = versions[index].total ?? answer.total
        if !answer.isProbe { versions[index].isFirm = true }
        for piece in answer.pieces {
            versions[index].map.add(
                piece.range,
                from: ByteSource(
                    exchange: answer.part.exchange, contentOffset: piece.contentOffset,
                    position: piece.range.lowerBound))
        }
        if versions[index].map.isFull { note(.tooManyParts) }
    }

    private func compare(_ version: OpenVersion, _ answer: DownloadResponse) -> VersionComparison {
        if let total = version.total, let later = answer.total, total != later {
            return .changed("size")
        }
        if let total = version.total, answer.end > total { return .changed("size") }
        let end = version.map.stretches.last?.range.upperBound ?? 0
        if let total = answer.total, end > total { return .changed("size") }
        guard let identity = answer.identity, version.isKnown else { return .same(.none) }
        return version.identity.compare(identity)
    }
}

internal import Base
internal import Contents
internal import Traffic

extension OpenTransfer {
    // MARK: Sent whole

    /// Whether a request sends what this sent before: the same bytes, as far as both got.
    func isRepeated(
        by heads: TransferHeads, _ content: SentContent, _ contents: TransferContents
    ) throws -> Bool {
        guard let last = parts.last else { return false }
        if let announced = content.announced, let total = versions.last?.total,
            announced != total
        {
            return false
        }
        let common = min(last.bytes, content.count)
        let again = ByteMap.Overlap(
            range: 0..<common,
            first: ByteSource(
                exchange: last.exchange, contentOffset: 0, position: 0, form: last.form),
            second: ByteSource(
                exchange: heads.exchange.id, contentOffset: 0, position: 0, form: content.form))
        return try contents.compare([again], direction).conflicting.isEmpty
    }

    /// Takes one more attempt to send a whole: what came before it was of no use to the server.
    func takeWhole(_ heads: TransferHeads, _ content: SentContent, isFailed: Bool) {
        prepareVersion()
        var part = TransferPart(heads.exchange, method: heads.method)
        part.take(content)
        part.endedEarly = content.isCut
        if part.endedEarly { isNotable = true }
        part.version = 0
        let count = content.storedCount
        part.ranges = count.map { $0 > 0 ? [0..<$0] : [] } ?? []
        versions[0].total = content.announced ?? (part.endedEarly ? nil : count)
        versions[0].isUnreadable = !content.isReadable
        versions[0].map.cut(at: 0)
        add(part.ranges, of: part)
        isFinished = !isFailed && heads.succeeded
        append(part, claims: claimDigests(heads, content))
    }

    // MARK: Sent in parts

    func take(_ step: UploadStep, _ heads: TransferHeads, _ content: SentContent) {
        prepareVersion()
        isNotable = true
        var part = TransferPart(heads.exchange, method: heads.method)
        part.asked = step.asked
        part.answered = step.answered
        part.notes = step.notes
        part.take(content)
        part.endedEarly = part.bytes > 0 && content.isCut
        part.version = 0
        take(total: step.total)
        switch step.place {
        case .nowhere: break
        case .at(let offset): place(&part, at: offset, step, content)
        case .numbered(let number):
            if step.outcome == .taken, numbered[number] != nil || numbered.count < limits.parts {
                numbered[number] = NumberedPart(
                    part, content.isReadable ? step.stored : content.stored)
            }
        }
        if let kept = step.kept { versions[0].map.cut(at: kept) }
        if versions[0].map.isFull { note(.tooManyParts) }
        conclude(step)
        append(part, claims: claimDigests(heads, content))
    }

    private func place(
        _ part: inout TransferPart, at offset: Int64, _ step: UploadStep, _ content: SentContent
    ) {
        let count = content.storedCount ?? 0
        let (end, overflow) = offset.addingReportingOverflow(count)
        guard !overflow else {
            part.notes.append(TransferNote(.unplaced, "too large"))
            return
        }
        guard step.outcome != .refused, count > 0 else { return }
        if let total = versions[0].total, end > total { part.notes.append(TransferNote(.tooLong)) }
        part.ranges = [offset..<end]
        if !content.isReadable { versions[0].isUnreadable = true }
        add(part.ranges, of: part)
    }

    private func take(total: Int64?) {
        guard let total else { return }
        if let known = versions[0].total, known != total {
            note(.changed, "size")
        }
        versions[0].total = total
    }

    private func conclude(_ step: UploadStep) {
        switch step.ending {
        case .none: break
        case .cancelled: isCancelled = true
        case .finished:
            isFinished = true
            listed = step.listed
            let end = versions[0].map.stretches.last?.range.upperBound
            if method != .s3Multipart, versions[0].total == nil { versions[0].total = end ?? 0 }
        case .whenWhole: isFinished = versions[0].isComplete
        }
    }

    /// Puts numbered parts one behind the other: no one told more of their places. Behind one that
    /// is not there, none has a place.
    func layOutNumbered() {
        let places = Dictionary(
            parts.enumerated().map { ($1.exchange, $0) }, uniquingKeysWith: { first, _ in first })
        var offset: Int64 = 0
        var isSizeKnown = true
        // A server puts those together that it is told, whatever their numbers are.
        for number in listed ?? Array(1...(numbered.keys.max() ?? 1)) {
            guard let part = numbered[number] else {
                return note(.partsMissing, "from \(number) on")
            }
            let (end, overflow) = offset.addingReportingOverflow(part.count ?? 0)
            guard !overflow else { return note(.unplaced, "too large") }
            versions[0].map.add(
                offset..<end,
                from: ByteSource(
                    exchange: part.exchange, contentOffset: 0, position: offset, form: part.form))
            if let place = places[part.exchange], offset < end {
                parts[place].ranges = [offset..<end]
            }
            if part.count == nil { isSizeKnown = false }
            if !part.hasPassed { versions[0].isUnreadable = true }
            offset = end
        }
        if isFinished, isSizeKnown { versions[0].total = offset }
    }

    /// Makes the only version that an upload has.
    private func prepareVersion() {
        guard versions.isEmpty else { return }
        versions.append(OpenVersion(map: ByteMap(limit: limits.stretches)))
    }

    private func add(_ ranges: [Range<Int64>], of part: TransferPart) {
        for range in ranges {
            versions[0].map.add(
                range,
                from: ByteSource(
                    exchange: part.exchange, contentOffset: 0, position: range.lowerBound,
                    form: part.form))
        }
    }

    /// Keeps the digests of a whole with the version, and returns those of this content.
    private func claimDigests(
        _ heads: TransferHeads, _ content: SentContent
    ) -> [ClaimedDigest] {
        guard content.isReadable else { return [] }
        let claims = ClaimedDigest.all(
            heads.request, trailers: content.trailers, ofObject: heads.method == "PUT")
        versions[0].identity.complete(from: VersionIdentity(heads.request, digests: claims))
        return claims.filter { !$0.field.isOfWhole }
    }
}

extension TransferPart {
    fileprivate mutating func take(_ content: SentContent) {
        bytes = content.count
        form = content.form
        framedBytes = content.framedCount
        notes += content.notes
    }
}

internal import Base
internal import Contents
internal import Traffic

/// The two protocols that tell how far an upload is by Upload-Offset.
extension UploadStep {
    // MARK: tus 1.0

    init?(tus heads: TransferHeads) {
        self.init(.tus, heads)
        answered = shown(heads.answered("upload-offset"))
        // For clients that know few methods.
        let method = heads.asked("x-http-method-override")?.text ?? heads.method
        switch method {
        case "POST":
            guard heads.succeeded, let location = heads.answered("location") else { return nil }
            // It joins uploads that there are already.
            let joined = heads.asked("upload-concat")?.starts(with: Array("final".utf8)) ?? false
            guard !joined else { return nil }
            isCreation = true
            url = URLReference.resolved(location, against: heads.url)
            if heads.exchange.requestBody.size > 0 { place = .at(0) }
            kept = offset(heads) ?? (heads.exchange.requestBody.size > 0 ? nil : 0)
            ending = .whenWhole
        case "PATCH": append(heads)
        case "HEAD":
            kept = heads.succeeded ? offset(heads) : nil
            total = heads.answered("upload-length").flatMap(TransferHeads.number)
            ending = .whenWhole
        case "DELETE": if heads.succeeded { ending = .cancelled }
        default: return nil
        }
        total = total ?? heads.asked("upload-length").flatMap(TransferHeads.number)
        // Without an answer, what was sent need not be there.
        if outcome != .taken, case .whenWhole = ending { ending = .none }
    }

    // MARK: draft-ietf-httpbis-resumable-upload

    /// Whether the request opts in, or goes on with such an upload.
    static func isResumable(_ heads: TransferHeads) -> Bool {
        guard heads.method != "GET", heads.method != "HEAD" else { return false }
        return ["upload-complete", "upload-incomplete", "upload-draft-interop-version"]
            .contains { heads.asked($0) != nil }
            || heads.asked("content-type")?.equalsIgnoringCase("application/partial-upload")
                ?? false
    }

    init?(resumable heads: TransferHeads, isKnown: Bool) {
        self.init(.resumableUpload, heads)
        answered = shown(heads.answered("upload-offset"))
        total = heads.asked("upload-length").flatMap(TransferHeads.number)
        switch heads.method {
        case "GET", "HEAD":
            guard heads.answered("upload-offset") != nil else { return nil }
            kept = heads.succeeded ? offset(heads) : nil
            total = heads.answered("upload-length").flatMap(TransferHeads.number)
            if Self.saysComplete(heads.response) { ending = .whenWhole }
        case "DELETE": if heads.succeeded { ending = .cancelled }
        case _ where heads.asked("upload-offset") != nil: append(heads)
        default:
            guard !isKnown, let location = Self.location(heads) else { return nil }
            isCreation = true
            url = URLReference.resolved(location, against: heads.url)
            place = .at(0)
            kept = heads.succeeded ? offset(heads) : nil
        }
        guard Self.saysComplete(heads.request) else { return }
        if case .at(let start) = place, total == nil, let count = heads.announcedRequest {
            let (end, overflow) = start.addingReportingOverflow(count)
            total = overflow ? nil : end
        }
        if outcome == .taken { ending = total == nil ? .finished : .whenWhole }
    }

    /// Where the upload is: a 104 tells, or the answer to a creation that is not complete.
    private static func location(_ heads: TransferHeads) -> ArraySlice<UInt8>? {
        for interim in heads.exchange.interimHeads {
            let head = RecordedHead(interim)
            guard head.startLine.split(separator: 0x20).dropFirst().first?.text == "104",
                let location = head.values(named: "location").first
            else { continue }
            return location
        }
        guard heads.succeeded, !saysComplete(heads.request) else { return nil }
        return heads.answered("location")
    }

    /// By the field of today, or by its opposite in the first versions of the draft.
    private static func saysComplete(_ head: RecordedHead) -> Bool {
        let complete = head.values(named: "upload-complete").first
        let incomplete = head.values(named: "upload-incomplete").first
        return complete?.starts(with: Array("?1".utf8)) ?? false
            || incomplete?.starts(with: Array("?0".utf8)) ?? false
    }

    // MARK: Both

    private mutating func append(_ heads: TransferHeads) {
        let field = heads.asked("upload-offset")
        asked = shown(field)
        if let start = field.flatMap(TransferHeads.number) {
            place = .at(start)
        } else {
            note(.unplaced, "no Upload-Offset")
        }
        if heads.exchange.status == 409 { note(.offsetMismatch) }
        if heads.succeeded || heads.exchange.status == 409 { kept = offset(heads) }
        if method == .tus { ending = .whenWhole }
    }

    private func offset(_ heads: TransferHeads) -> Int64? {
        heads.answered("upload-offset").flatMap(TransferHeads.number)
    }
}

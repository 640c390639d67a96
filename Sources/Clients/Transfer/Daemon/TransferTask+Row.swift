package import Base
internal import Contents

/// A task as it is listed and told of: a document of the schema `sallyport.transfer-task/1`. Fields
/// that are sent along, and digests of keys, are the daemon's business.
extension TransferTask {
    package var row: JSONText { row { $0 } }

    /// - Parameter shown: what is shown of a URL.
    package func row(_ shown: (String) -> String) -> JSONText {
        [
            "schema": .string(Self.rowSchema), "id": .string(identifier),
            "session": .string(session), "kind": .string(kind.rawValue), "url": .string(shown(url)),
            "file": .optional(file), "createdAt": .string(createdAt.iso8601),
            "state": .string(state.name), "waitReason": .optional(wait?.reason.rawValue),
            "retryAt": .optional(wait?.until?.iso8601), "committedBytes": .integer(committed),
            "sentBytes": .optional(sent),
            "totalBytes": .optional(total), "bytesPerSecond": .optional(rate),
            "leftMs": .optional(
                secondsLeft.map { $0.multipliedReportingOverflow(by: 1000) }
                    .flatMap { $0.overflow ? nil : $0.partialValue }),
            "hops": .texts(hops.map(shown)), "restarts": .texts(restarts),
            "requests": .integer(Int64(requestCount)), "sha256": .optional(digest?.hex),
            "path": .optional(kind == .upload ? path.map(shown) : path),
            "discretionary": .boolean(options.mayBeDeferred),
            "cellular": .boolean(options.allowsCellular),
            "storage": .string(options.storage.rawValue),
            "priority": .integer(Int64(options.priority)),
            "error": failure?.showingURLs(shown).journal ?? .null,
        ]
    }

    static let rowSchema = "sallyport.transfer-task/1"

    /// Why it waits; `nil` if it does not.
    package var wait: TransferWait? {
        if case .waiting(let wait) = state { wait } else { nil }
    }

    /// What failed: for good, or what it waits for to be over.
    package var failure: Failure? {
        switch state {
        case .failed(let failure): failure
        case .waiting(let wait): wait.failure
        case .suspended, .running, .verifying, .completed, .cancelled: nil
        }
    }

    /// Reads a row; `nil` for what is none.
    init?(row: JSONObject) {
        guard row.text("schema") == Self.rowSchema, let identifier = row.text("id"),
            let plan = TransferPlan(row: row), let time = row.time("createdAt"),
            let state = TransferState(row: row)
        else { return nil }
        self.init(plan, identifier: identifier, createdAt: time)
        self.state = state
        committed = row.integer("committedBytes") ?? 0
        total = row.integer("totalBytes")
        sent = row.integer("sentBytes")
        rate = row.integer("bytesPerSecond")
        hops = row.texts("hops") ?? []
        restarts = row.texts("restarts") ?? []
        requestCount = row.integer("requests").map { Int(clamping: $0) } ?? 0
        digest = row.bytes("sha256")
        path = row.text("path")
    }

    /// The same with less text, for a line that has room for so much only.
    var shortened: TransferTask {
        var task = self
        task.hops = []
        task.restarts = []
        switch state {
        case .failed(let failure): task.state = .failed(failure.shortened)
        case .waiting(let wait):
            task.state = .waiting(
                TransferWait(wait.reason, until: wait.until, wait.failure?.shortened))
        case .suspended, .running, .verifying, .completed, .cancelled: break
        }
        return task
    }

    /// With so much of the URL only as tells it from others, and without the file if it is as long.
    var withoutPaths: TransferTask {
        var plan = TransferPlan(
            kind, url.shortened(to: 1000), file: file?.shortened(orNoneBeyond: 1000),
            session: session.shortened(to: 256))
        plan.options = options
        var task = TransferTask(plan, identifier: identifier, createdAt: createdAt)
        task.state = state
        task.committed = committed
        task.total = total
        task.sent = sent
        task.rate = rate
        task.requestCount = requestCount
        task.digest = digest
        task.path = path?.shortened(orNoneBeyond: 1000)
        return task
    }
}

extension String {
    /// Its first Unicode scalars: one character may have any number of them.
    func shortened(to count: Int) -> String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(count)))
    }

    /// A part of a path leads elsewhere.
    fileprivate func shortened(orNoneBeyond count: Int) -> String? {
        unicodeScalars.count > count ? nil : self
    }
}

extension Failure {
    /// With a detail and a hint of at most 500 Unicode scalars.
    var shortened: Failure {
        Failure(
            code, party: party, detail.shortened(to: 500),
            hint: hint.map { $0.shortened(to: 500) })
    }
}

extension JSONObject {
    fileprivate func time(_ name: StaticString) -> Timestamp? {
        text(name).flatMap { Timestamp(iso8601: [UInt8]($0.utf8)) }
    }
}

extension TransferPlan {
    fileprivate init?(row: JSONObject) {
        guard let kind = row.text("kind").flatMap(TransferTask.Kind.init),
            let url = row.text("url"), let session = row.text("session")
        else { return nil }
        self.init(kind, url, file: row.text("file"), session: session)
        options.isDiscretionary = row.boolean("discretionary") ?? false
        options.allowsCellular = row.boolean("cellular") ?? true
        options.storage = row.text("storage").flatMap(StorageClass.init) ?? .none
        options.priority = row.integer("priority").map { Int(clamping: $0) } ?? 0
    }
}

extension TransferState {
    fileprivate init?(row: JSONObject) {
        let failure = row.object("error").flatMap { Failure($0) }
        switch row.text("state") {
        case "suspended": self = .suspended
        case "waiting":
            guard let reason = row.text("waitReason").flatMap(TransferWait.Reason.init) else {
                return nil
            }
            self = .waiting(TransferWait(reason, until: row.time("retryAt"), failure))
        case "running": self = .running
        case "verifying": self = .verifying
        case "completed": self = .completed
        case "failed":
            guard let failure else { return nil }
            self = .failed(failure)
        case "cancelled": self = .cancelled
        default: return nil
        }
    }
}

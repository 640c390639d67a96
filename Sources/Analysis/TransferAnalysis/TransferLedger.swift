package import Base
internal import Contents
internal import HTTPModel
package import Traffic

/// Makes one transfer of all the exchanges that fetched or sent one resource.
///
/// A transfer is told if ranges were asked for or answered with, if it took more than one attempt,
/// if a content ended early, or if it is an upload that can be resumed; what was fetched or sent
/// whole at the first attempt is not. A GET that comes after all is there is another transfer,
/// unless it asks for a range.
///
/// Not `Sendable`: one task has it.
package final class TransferLedger {
    private let contents: TransferContents
    private let limits: TransferLimits
    private let visit: (Transfer) throws -> Bool
    private var open: [TransferKey: [OpenTransfer]] = [:]
    private var openWeight = 0
    private var openParts = 0
    /// Whether nobody wants more.
    package private(set) var isStopped = false

    /// - Parameters:
    ///   - source: where the contents are.
    ///   - visit: takes what is closed, until it returns false.
    package init(
        _ source: any TrafficSource, limits: TransferLimits = TransferLimits(),
        makeHash: @escaping (DigestAlgorithm) -> any RunningDigest,
        visit: @escaping (Transfer) throws -> Bool
    ) {
        contents = TransferContents(source: source, makeHash: makeHash, limits: limits)
        self.limits = limits
        self.visit = visit
    }

    /// Takes the next exchange, in the order of their numbers.
    package func take(_ exchange: ExchangeRecord, from client: TransferClient) throws {
        let heads = TransferHeads(exchange)
        if try !takeUpload(heads, client) {
            switch heads.method {
            case "GET", "HEAD": try takeDownload(heads, client)
            case "PUT", "POST", "PATCH": try takeWhole(heads, client)
            default: break
            }
        }
        if openWeight > limits.openTransfers || openParts > limits.openParts { try evict() }
    }

    /// Tells what is still open, by their first exchanges.
    package func finish() throws {
        for transfer in open.values.joined().sorted(by: { $0.id < $1.id }) { try tell(transfer) }
        open = [:]
    }

    // MARK: Downloads

    private func takeDownload(_ heads: TransferHeads, _ client: TransferClient) throws {
        let type = ParameterizedValue(heads.answered("content-type") ?? []).text
        // These never end: what breaks off is not to be had again.
        if heads.exchange.status == 101 || Self.endless.contains(type) { return }
        let answer = try DownloadResponse(heads, contents.source)
        let key = key("GET", heads.url, client)
        var transfer = find(key, client)
        if let found = transfer, found.isComplete, !answer.asksForRange, !answer.isProbe {
            guard answer.isAttempt else { return }
            try close(found)
            transfer = nil
        }
        if transfer == nil, !answer.asksForRange, !answer.isAttempt { return }
        try add(to: transfer ?? start(heads, key, client, .response, .http)) {
            try $0.take(answer, contents)
        }
    }

    // MARK: What is sent whole

    /// Requests that are sent again as they were, because the first failed.
    private func takeWhole(_ heads: TransferHeads, _ client: TransferClient) throws {
        let isFailed = heads.isTransientFailure || heads.requestIsCut
        let key = key(heads.method, heads.url, client)
        var transfer = find(key, client)
        guard transfer != nil || isFailed else { return }
        let content = try SentContent(heads, contents)
        if let found = transfer {
            let isAgain = try found.isRepeated(by: heads, content, contents)
            if !isAgain {
                try close(found)
                transfer = nil
            }
        }
        let isEmpty = content.count == 0 && (content.announced ?? 0) == 0
        guard transfer != nil || isFailed && !isEmpty else { return }
        let taken = transfer ?? start(heads, key, client, .request, .http)
        try add(to: taken) { $0.takeWhole(heads, content, isFailed: isFailed) }
        if !isFailed { try close(taken) }
    }

    // MARK: Uploads in parts

    /// Whether the exchange is a step of an upload.
    private func takeUpload(_ heads: TransferHeads, _ client: TransferClient) throws -> Bool {
        let here = key("upload", UploadStep.url(of: heads), client)
        let known = find(here, client)
        guard let step = try UploadStep(heads, of: known?.method, contents) else { return false }
        let content = try SentContent(heads, contents)
        let key = key("upload", step.url, client)
        var transfer = step.isCreation ? nil : find(key, client)
        if let found = transfer, found.isFinished, step.startsAnew {
            try close(found)
            transfer = nil
        }
        try add(to: transfer ?? start(heads, key, client, .request, step.method)) {
            $0.take(step, heads, content)
        }
        return true
    }

    // MARK: What is open

    private func key(_ kind: String, _ url: [UInt8], _ client: TransferClient) -> TransferKey {
        TransferKey(address: client.address, kind: kind, url: URLReference.normalized(url))
    }

    private func find(_ key: TransferKey, _ client: TransferClient) -> OpenTransfer? {
        open[key]?.last { $0.isOf(client) }
    }

    private func start(
        _ heads: TransferHeads, _ key: TransferKey, _ client: TransferClient,
        _ direction: Direction, _ method: TransferMethod
    ) -> OpenTransfer {
        let transfer = OpenTransfer(
            heads, key: key, client: client, direction: direction, method: method, limits: limits)
        open[key, default: []].append(transfer)
        openWeight += transfer.weight
        return transfer
    }

    private func add(
        to transfer: OpenTransfer, _ body: (OpenTransfer) throws -> Void
    ) throws {
        let before = transfer.partWeight
        try body(transfer)
        openParts += transfer.partWeight - before
    }

    private func close(_ transfer: OpenTransfer) throws {
        open[transfer.key]?.removeAll { $0 === transfer }
        if open[transfer.key]?.isEmpty ?? false { open[transfer.key] = nil }
        openWeight -= transfer.weight
        openParts -= transfer.partWeight
        try tell(transfer)
    }

    private func tell(_ transfer: OpenTransfer) throws {
        guard !isStopped, transfer.isWorthTelling else { return }
        isStopped = try !visit(transfer.closed(contents))
    }

    /// Makes room at once for an eighth of what is open: first what is complete and was used
    /// longest ago.
    private func evict() throws {
        let all = open.values.joined().map { (transfer: $0, isComplete: $0.isComplete) }.sorted {
            $0.isComplete == $1.isComplete
                ? $0.transfer.lastExchange < $1.transfer.lastExchange : $0.isComplete
        }
        for (transfer, isComplete) in all.prefix(max(1, all.count / 8)) {
            if !isComplete { transfer.note(.evicted) }
            try close(transfer)
        }
    }

    private static let endless: Set<String> = ["text/event-stream", "multipart/x-mixed-replace"]
}

internal import Base
package import HTTPClient
internal import HTTPCodecs
internal import HTTPModel
internal import Origins

/// Fetches feeds: asks for what has changed, keeps what is new, fetches its thumbnails and leaves
/// whole files to transfers.
///
/// `@unchecked Sendable`: used on the client's loop.
package final class FeedRefresher: @unchecked Sendable {
    /// How a feed is fetched.
    package struct Request: Sendable {
        package var url: String
        /// Whether nobody waits for it: its files may then wait, too.
        package var isInBackground = false
        /// Whether a server that wants to be left alone is, although the user is there: they have not
        /// asked. In the background it always is.
        package var heedsPause = false
        /// Whether the items' own file is closed.
        package var usesSideBuffer = false
        /// How many bytes thumbnails may have together.
        package var thumbnailBudget = 512 << 10
        /// In milliseconds since 1970.
        package var now: Int64
        /// Ends it early; `nil` if nothing does.
        package var stop: ClientStop?

        package init(_ url: String, at now: Int64) {
            self.url = url
            self.now = now
        }

        fileprivate var isStopped: Bool { stop?.isStopped ?? false }
    }

    private let client: HTTPClient
    private let store: RefreshStore
    private let handover: any AssetHandover
    /// Feeds that are being fetched, and who waits to fetch them next: two that did it at once
    /// would both find the same things new.
    ///
    /// Who is stopped leaves the queue, so that no more wait than wakes and fetches with a user may be
    /// under way at once.
    private var busy: [String: [Waiter]] = [:]
    private var lastTicket: UInt64 = 0

    private struct Waiter {
        let ticket: UInt64
        /// Gets whether its turn has come.
        let turn: CheckedContinuation<Bool, Never>
    }

    /// - Parameter client: one that runs; what it keeps of an answer bounds what a feed may have.
    package init(_ client: HTTPClient, _ store: RefreshStore, handover: any AssetHandover) {
        self.client = client
        self.store = store
        self.handover = handover
    }

    /// Fetches one feed. What fails leaves everything as it was, and is told in the report.
    package func refresh(_ request: Request) async -> FeedReport {
        guard await waitForTurn(request) else {
            var report = FeedReport(request.url)
            report.fail(Self.stopped)
            return report
        }
        let report = await fetchAlone(request)
        if busy[request.url]?.isEmpty ?? true {
            busy[request.url] = nil
        } else {
            busy[request.url]?.removeFirst().turn.resume(returning: true)
        }
        return report
    }

    /// - Returns: whether its turn has come; `false` if it was stopped before.
    private func waitForTurn(_ request: Request) async -> Bool {
        let url = request.url
        guard busy[url] != nil else {
            busy[url] = []
            return true
        }
        guard !request.isStopped else { return false }
        lastTicket += 1
        let ticket = lastTicket
        request.stop?.whenStopped = { [unowned self] in giveUp(ticket, url) }
        defer { request.stop?.whenStopped = nil }
        return await withCheckedContinuation {
            busy[url]?.append(Waiter(ticket: ticket, turn: $0))
        }
    }

    private func giveUp(_ ticket: UInt64, _ url: String) {
        guard let index = busy[url]?.firstIndex(where: { $0.ticket == ticket }) else { return }
        busy[url]?.remove(at: index).turn.resume(returning: false)
    }

    private func fetchAlone(_ request: Request) async -> FeedReport {
        var report = FeedReport(request.url)
        var state = store.state(of: request.url)
        guard !state.isGone else {
            report.isGone = true
            return report
        }
        clampPause(&state, request)
        let heedsPause = request.isInBackground || request.heedsPause
        guard !heedsPause || request.now >= state.notBefore else {
            report.retryAfter = state.notBefore - request.now
            return report
        }
        defer { store.releaseRoom(for: request.url) }
        do throws(Failure) {
            try store.holdRoom(for: request.url)
            let pages = try await fetch(request, &state, &report)
            let items = try await take(pages, &state, request, &report)
            try store.commit(state, items, aside: request.usesSideBuffer)
            report.items = items
            report.result = items.isEmpty ? .noData : .newData
        } catch {
            report.fail(error)
            keepPause(state, request)
        }
        if state.notBefore > request.now { report.retryAfter = state.notBefore - request.now }
        report.flapCount = state.flapCount
        report.isGone = state.isGone
        return report
    }

    /// A longer pause than a server can want is of a clock that was ahead. It is kept as it is now: who
    /// looks next must not find it as long again.
    private func clampPause(_ state: inout FeedState, _ request: Request) {
        let latest = request.now.addingSaturated(FeedRule.pauseLimit)
        guard state.notBefore > latest else { return }
        state.notBefore = latest
        keep(state, request)
    }

    /// A server that is in trouble said when to come back: that is remembered, and nothing else.
    private func keepPause(_ state: FeedState, _ request: Request) {
        var old = store.state(of: request.url)
        guard state.notBefore > old.notBefore else { return }
        old.notBefore = state.notBefore
        keep(old, request)
    }

    private func keep(_ state: FeedState, _ request: Request) {
        do throws(Failure) { try store.commit(state, [], aside: request.usesSideBuffer) } catch {
            // What could not be written is asked again a little early, or late.
            return
        }
    }

    // MARK: The feed

    /// What was new in one document.
    private struct Page {
        let entries: [FeedEntry]
        /// The cursor that it was asked for with.
        let cursor: String?
    }

    /// Follows redirects and a cursor within bounds.
    private func fetch(
        _ request: Request, _ state: inout FeedState, _ report: inout FeedReport
    ) async throws(Failure) -> [Page] {
        var location = try OriginLocation(request.url)
        if let cursor = state.cursor { location = location.after(cursor) ?? location }
        var pages: [Page] = []
        for _ in 0..<Self.stepLimit {
            let answer = try await ask(location, state, request, &report)
            report.status = answer.status
            let asked = state.cursor
            let (outcome, hasMore) = FeedRule.judge(answer, &state, at: request.now)
            switch outcome {
            case .failed(let code, let detail):
                throw Failure(code, party: .origin, "\(location.url): \(detail)")
            case .redirected(let reference):
                location = try redirected(location, to: reference)
                continue
            case .gone, .unchanged: return pages
            case .new(let new):
                pages.append(Page(entries: new.map { resolved($0, at: location) }, cursor: asked))
            }
            let fileCount = pages.reduce(0) { $1.entries.reduce($0) { $0 + $1.fileCount } }
            guard hasMore, fileCount <= Self.fileLimit,
                let next = state.cursor.flatMap(location.after)
            else { return pages }
            location = next
        }
        guard state.cursor != nil, !pages.isEmpty else {
            throw Failure(
                "feed-redirects", party: .origin,
                "\(request.url): more than \(Self.stepLimit) redirects")
        }
        // The rest is for the next time.
        return pages
    }

    private func redirected(
        _ location: OriginLocation, to reference: String
    ) throws(Failure) -> OriginLocation {
        let next = try location.following(reference)
        guard next.target.isSecure || !location.target.isSecure else {
            throw Failure(
                "feed-redirects", party: .origin,
                "\(location.url): a redirect from https to http is not followed")
        }
        // The user is asked for servers on their network, and was not for what a stranger names.
        guard LocalNetwork.mayLead(from: location.target.host, to: next.target.host) else {
            throw Failure(
                "feed-redirects", party: .origin,
                "\(location.url): a redirect into the local network is not followed")
        }
        return next
    }

    private func ask(
        _ location: OriginLocation, _ state: FeedState, _ request: Request,
        _ report: inout FeedReport
    ) async throws(Failure) -> FeedRule.Answer {
        var message = FeedRequest.conditional(location, state)
        message.stop = request.stop
        let response = try await client.send(message)
        report.bytes += Int64(
            message.head.count + response.head.raw.count + response.content.count)
        var content: [UInt8]? = nil
        if !response.isCut, let codings = ContentCoding.codings(of: response.head.fields) {
            let (plain, outcome) = ContentDecoder.decode(
                response.content, codings, outputLimit: Self.documentLimit)
            if case .complete = outcome { content = plain }
        }
        return FeedRule.Answer(
            status: response.head.status, fields: response.head.fields, content: content)
    }

    /// With its references as URLs; those that lead nowhere are left out.
    private func resolved(_ entry: FeedEntry, at location: OriginLocation) -> FeedEntry {
        var entry = entry
        entry.thumbnails = entry.thumbnails.compactMap { url(of: $0, at: location) }
        entry.assets = entry.assets.compactMap { asset in
            url(of: asset.url, at: location).map { FeedEntry.Asset(url: $0, size: asset.size) }
        }
        return entry
    }

    private func url(of reference: String, at location: OriginLocation) -> String? {
        do throws(Failure) {
            return try redirected(location, to: reference).url
        } catch {
            return nil
        }
    }

    // MARK: What belongs to an item

    /// Takes items with what belongs to them, as many as have room for their files and until the
    /// request is stopped; those behind are new the next time.
    private func take(
        _ pages: [Page], _ state: inout FeedState, _ request: Request, _ report: inout FeedReport
    ) async throws(Failure) -> [KeptItem] {
        var items: [KeptItem] = []
        var room = Self.fileLimit
        for (number, page) in pages.enumerated() {
            for (index, entry) in page.entries.enumerated() {
                room -= entry.fileCount
                if room >= 0, let item = try await keep(entry, request, &report) {
                    items.append(item)
                    continue
                }
                guard !items.isEmpty || room < 0 else { throw Self.stopped }
                FeedRule.forget(
                    page.entries[index...] + pages[(number + 1)...].flatMap(\.entries), &state)
                state.cursor = page.cursor
                return items
            }
        }
        return items
    }

    /// - Returns: `nil` if the request was stopped.
    private func keep(
        _ entry: FeedEntry, _ request: Request, _ report: inout FeedReport
    ) async throws(Failure) -> KeptItem? {
        var item = KeptItem(entry, of: request.url)
        for url in entry.thumbnails where !request.isStopped {
            let room = request.thumbnailBudget - report.thumbnailBytes
            switch await thumbnail(url, room: room, request, &report) {
            case .kept(let name): item.thumbnails.append(name)
            case .tooLarge:
                item.assets.append(url)
                try await hand(FeedEntry.Asset(url: url, size: nil), request, &report)
            case .missing: break
            }
        }
        for asset in entry.assets where !request.isStopped {
            item.assets.append(asset.url)
            try await hand(asset, request, &report)
        }
        return request.isStopped ? nil : item
    }

    private enum Thumbnail {
        case kept(String)
        case tooLarge
        case missing
    }

    /// An item without its picture is still an item.
    private func thumbnail(
        _ url: String, room: Int, _ request: Request, _ report: inout FeedReport
    ) async -> Thumbnail {
        guard room > 0 else { return .tooLarge }
        do throws(Failure) {
            var message = FeedRequest.get(try OriginLocation(url))
            message.stop = request.stop
            let response = try await client.send(message)
            let count = response.content.count
            report.bytes += Int64(message.head.count + response.head.raw.count + count)
            guard response.head.status == 200 else { return .missing }
            guard !response.isCut, count <= min(room, Self.thumbnailLimit) else { return .tooLarge }
            report.thumbnailBytes += count
            report.thumbnailCount += 1
            return .kept(try store.keepThumbnail(url, response.content))
        } catch {
            return .missing
        }
    }

    private func hand(
        _ asset: FeedEntry.Asset, _ request: Request, _ report: inout FeedReport
    ) async throws(Failure) {
        try await handover.take(
            HandedAsset(
                url: asset.url, name: AssetName.of(asset.url), size: asset.size,
                isDiscretionary: request.isInBackground))
        report.handedCount += 1
    }

    private static let stopped = Failure("stopped", party: .tool, "was stopped")
    /// Thumbnails and whole files of one refresh: more than one item may have.
    private static let fileLimit = 200
    /// Redirects, and pages behind a cursor.
    private static let stepLimit = 10
    /// In bytes, of a document without its coding.
    private static let documentLimit = 8 << 20
    /// In bytes: a larger picture is no thumbnail.
    private static let thumbnailLimit = 64 << 10
}

extension FeedEntry {
    fileprivate var fileCount: Int { thumbnails.count + assets.count }
}

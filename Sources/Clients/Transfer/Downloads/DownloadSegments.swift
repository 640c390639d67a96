internal import Base
internal import HTTPClient
internal import Origins
internal import Sockets

/// The parts of a download that come beside its main request, each of the second half of what
/// somebody else has still to fetch.
///
/// A part counts only where the origin has proved that it is of the same version: by a 206 of just
/// the bytes that were asked for, under the same strong tag. Whoever comes to the beginning of
/// another's part compares some of it, unless a digest of the whole is known. An origin that does not
/// answer so is not asked again.
///
/// `@unchecked Sendable`: used on the service's loop.
final class DownloadSegments: @unchecked Sendable {
    private let store: DownloadStore
    private let background = BackgroundTasks()
    private var rule: SegmentRule
    private var main: DownloadReception?
    private var parts: [Part] = []
    /// Of all, in bytes.
    private var received: Int64 = 0
    private var isRefused = false
    /// What was wrong with a part: then no part counts.
    private(set) var flaw: DownloadReception.Flaw?
    private(set) var failure: DiskFailure?
    /// Wakes whoever waits for the parts.
    private let ended: LoopWakeup
    /// Where the requests go.
    var way: TransferWay?

    /// `@unchecked Sendable`: used on the service's loop.
    private final class Part: @unchecked Sendable {
        let stop = ClientStop()
        var reception: DownloadReception?
        let start: Int64

        init(_ start: Int64) { self.start = start }
    }

    init(_ store: DownloadStore) {
        self.store = store
        rule = SegmentRule(store.transfer.limits)
        ended = LoopWakeup(store.transfer.worker.loop)
    }

    /// Runs until it is closed, and all parts have ended.
    func run() async { await background.run() }

    func close() { background.stop() }

    // MARK: What the receptions say

    func noteReceived(_ count: Int) { received += Int64(count) }

    /// Takes a look, while contents come, whether one more part is worth it.
    func consider(_ reception: DownloadReception) {
        if reception.role.isMain { main = reception }
        let transfer = store.transfer
        guard !isRefused, !transfer.refusesParts, flaw == nil, failure == nil, !transfer.isStopped,
            parts.allSatisfy({ $0.reception?.step != nil }),
            let saved = transfer.journal.state.saved, saved.strongTag != nil,
            saved.contentEncoding.isEmpty, let total = saved.length,
            rule.mayOpen(count: parts.count + 1, received: received, now: transfer.clock.elapsed)
        else { return }
        let all = (main.map { [$0] } ?? []) + parts.compactMap(\.reception)
        guard let longest = all.max(by: { $0.missing(of: total) < $1.missing(of: total) }) else {
            return
        }
        let missing = longest.missing(of: total)
        guard missing / 2 >= transfer.limits.segmentSize, transfer.takeConnection() else { return }
        let end = min(total, longest.limit)
        open(end - missing / 2..<end, beside: longest, saved)
    }

    /// What stands behind a reception's limit is compared with what it goes on to receive, if it is
    /// there.
    ///
    /// - Returns: the limit; another one where nobody has brought what is behind it.
    func boundary(at limit: Int64, count: Int64) -> Int64 {
        let isThere = parts.contains { part in
            part.start == limit && (part.reception?.position ?? 0) >= limit + count
        }
        let committed = store.transfer.journal.state.committed.ranges
        if isThere
            || committed.contains(where: { $0.contains(limit) && $0.upperBound >= limit + count })
        {
            return limit
        }
        for part in parts where part.start == limit { part.stop.stop() }
        let starts = parts.map(\.start) + committed.map(\.lowerBound)
        return starts.filter { $0 > limit }.min() ?? .max
    }

    /// Waits for the parts, where the main request has come to the first of them; ends them, where it
    /// has not.
    func settle(behind reception: DownloadReception) async {
        let stop = store.transfer.stop
        stop.whenStopped = { [ended] in ended.wake() }
        defer { stop.whenStopped = nil }
        while !parts.isEmpty {
            if !reception.hasReachedLimit || store.transfer.isStopped || flaw != nil {
                for part in parts { part.stop.stop() }
            }
            _ = await ended.wait(until: .max)
        }
        main = nil
    }

    // MARK: One part

    private func open(
        _ range: Range<Int64>, beside parent: DownloadReception, _ saved: SavedVersion
    ) {
        let part = Part(range.lowerBound)
        parts.append(part)
        background.add { [self] in
            await fetch(range, part, beside: parent, saved)
            parts.removeAll { $0 === part }
            store.transfer.giveConnection()
            ended.wake()
        }
    }

    private func fetch(
        _ range: Range<Int64>, _ part: Part, beside parent: DownloadReception,
        _ saved: SavedVersion
    ) async {
        guard let way else { return }
        let location: OriginLocation
        do throws(Failure) {
            location = try OriginLocation(saved.url)
        } catch {
            isRefused = true
            return
        }
        let isLast = range.upperBound == saved.length
        let plan = ResumePlan(
            .ifRange, saved, offset: range.lowerBound,
            end: range.upperBound + (isLast ? 0 : store.boundary))
        let reception = DownloadReception(
            store, plan, at: location,
            .part(range, of: self) { [weak parent] in
                parent?.limit(to: range.lowerBound) ?? false
            })
        part.reception = reception
        let ending = await DownloadRequest.send(
            plan, way, at: location, to: reception, part.stop)
        await reception.finishCommits()
        failure = failure ?? reception.failure
        guard reception.step?.takesContent ?? false else {
            isRefused = true
            return
        }
        if let flaw = reception.flaw {
            self.flaw = flaw
            isRefused = true
        }
        // One that broke off leaves a gap, which the next request asks for.
        if case .failure = ending { isRefused = true }
    }
}

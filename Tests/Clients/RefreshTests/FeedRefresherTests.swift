import Base
import ContentServer
import HTTPClient
import Testing

@testable import Refresh

/// Feeds of the content server, fetched by the client.
struct FeedRefresherTests {
    /// What each poll brings, with the validators of the one before.
    private static let rows: [(String, String, [String])] = [
        (
            "json", "new,none",
            ["new-data 200 11", "no-data 304 0", "new-data 200 1", "no-data 304 0"]
        ),
        (
            "atom", "new,none",
            ["new-data 200 11", "no-data 304 0", "new-data 200 1", "no-data 304 0"]
        ),
        (
            "rss", "new,none",
            ["new-data 200 11", "no-data 304 0", "new-data 200 1", "no-data 304 0"]
        ),
        (
            "json", "none,flap",
            ["new-data 200 10", "no-data 200 0", "no-data 200 0", "no-data 200 0"]
        ),
        ("rss", "none,duplicate,new", ["new-data 200 10", "no-data 200 0", "new-data 200 1"]),
        ("json", "none,cut,new", ["new-data 200 10", "feed-malformed", "new-data 200 1"]),
        ("atom", "none,cut,new", ["new-data 200 10", "feed-malformed", "new-data 200 1"]),
        ("rss", "cut,new", ["feed-malformed", "new-data 200 11"]),
        ("json", "none,fail,new", ["new-data 200 10", "feed-status", "new-data 200 1"]),
        ("json", "none,gone", ["new-data 200 10", "no-data 410 0 gone", "no-data gone"]),
        ("cursor", "new,none", ["new-data 200 11", "new-data 200 1"]),
    ]

    @Test(arguments: rows.indices)
    func follows(_ index: Int) async throws {
        let (format, steps, expected) = Self.rows[index]
        let told = try await withLaboratory { laboratory in
            let refresher = laboratory.refresher(try laboratory.store())
            var told: [String] = []
            for number in 0..<Int64(expected.count) {
                let url = "\(laboratory.origin)/feeds/\(format)/news?steps=\(steps)"
                let request = FeedRefresher.Request(url, at: 1_780_000_000_000 + number * 60_000)
                told.append(Self.words(await refresher.refresh(request)))
            }
            return told
        }
        #expect(told == expected, "\(format) \(steps)")
    }

    /// Nobody was asked whether a feed from elsewhere may send its reader there.
    @Test(arguments: [
        "http://10.0.0.1/feed", "http://nas.local/feed", "http://[fe80::1]/feed",
        "http://2130706433/feed", "http://router/feed",
    ])
    func staysOutOfTheLocalNetwork(_ place: String) async throws {
        let failure = try await withLaboratory { laboratory in
            let refresher = laboratory.refresher(try laboratory.store())
            let url = "\(laboratory.origin)/redirect-to?url=\(place)"
            return await refresher.refresh(FeedRefresher.Request(url, at: 0)).failure
        }
        #expect(failure?.code == "feed-redirects")
        #expect(failure?.detail.hasSuffix("into the local network is not followed") ?? false)
    }

    /// What a clock that was ahead has noted holds for a day, and for no longer.
    @Test func leavesAServerAloneForADayAtMost() async throws {
        let day: Int64 = 86_400_000
        let waits = try await withLaboratory { laboratory in
            let url = "\(laboratory.origin)/feeds/json/news"
            var state = FeedState(url)
            state.notBefore = 5000 * day
            try laboratory.store().commit(state, [], aside: false)
            var waits: [Int64?] = []
            for now in [day, day + 1, 2 * day] {
                // What is known is known in the next program, too.
                var request = FeedRefresher.Request(url, at: now)
                request.isInBackground = true
                let report = await laboratory.refresher(try laboratory.store()).refresh(request)
                #expect(report.wasSkipped == (now < 2 * day))
                waits.append(report.retryAfter)
            }
            return waits
        }
        #expect(waits == [day, day - 1, nil])
    }

    private static func words(_ report: FeedReport) -> String {
        if let failure = report.failure { return failure.code }
        let status = report.status.map { " \($0) \(report.items.count)" } ?? ""
        return report.result.rawValue + status + (report.isGone ? " gone" : "")
    }

    /// What is known is known in the next program, too.
    @Test func remembers() async throws {
        let (first, second, state, flaps) = try await withLaboratory { laboratory in
            let url = "\(laboratory.origin)/feeds/json/news?steps=new,none,flap"
            func poll() async throws -> FeedReport {
                await laboratory.refresher(try laboratory.store()).refresh(
                    FeedRefresher.Request(url, at: 1_780_000_000_000))
            }
            let first = try await poll()
            let second = try await poll()
            let third = try await poll()
            return (first, second, try laboratory.store().state(of: url), third.flapCount)
        }
        #expect(first.items.count == 11)
        #expect(second.status == 304)
        #expect(second.items.isEmpty)
        #expect(state.known.count == 11)
        #expect(flaps == 1)
    }

    /// 503 with Retry-After: a wake leaves the server alone until then, a user does not.
    @Test func heedsRetryAfter() async throws {
        let reports = try await withLaboratory { laboratory in
            let url = "\(laboratory.origin)/feeds/json/news?steps=fail,new"
            let refresher = laboratory.refresher(try laboratory.store())
            var reports: [FeedReport] = []
            for (now, isInBackground) in [(0, true), (999, true), (1000, true)] as [(Int64, Bool)] {
                var request = FeedRefresher.Request(url, at: 1_780_000_000_000 + now)
                request.isInBackground = isInBackground
                reports.append(await refresher.refresh(request))
            }
            return reports
        }
        #expect(reports.map(\.status) == [503, nil, 200])
        #expect(reports.map(\.retryAfter) == [1000, 1, nil])
    }

    /// Thumbnails come at once, whole files are handed over; from a wake they may wait.
    @Test(arguments: [true, false])
    func leavesWholeFilesToTransfers(_ isInBackground: Bool) async throws {
        let (report, assets, names, again) = try await withLaboratory { laboratory in
            let url = "\(laboratory.origin)/packs/7/manifest.json"
            let refresher = laboratory.refresher(try laboratory.store())
            var request = FeedRefresher.Request(url, at: 1_780_000_000_000)
            request.isInBackground = isInBackground
            let report = await refresher.refresh(request)
            let again = await refresher.refresh(request)
            let names = try Files.names(inFolder: "\(laboratory.folder)/store/thumbnails")
            return (report, laboratory.handover.assets, names, again)
        }
        #expect(report.failure == nil)
        #expect(report.thumbnailCount == 5)
        #expect(names.count == 5)
        #expect(assets.count == 40)
        #expect(assets.allSatisfy { $0.isDiscretionary == isInBackground })
        #expect(Set(assets.map(\.name)).count == 40)
        #expect(assets.first?.size ?? 0 > 1000)
        #expect(report.bytes < 200_000)
        #expect(again.items.isEmpty)
        #expect(again.handedCount == 0)
    }

    /// Without a promise for its files an item is not taken: it comes again.
    @Test func keepsNothingThatCouldNotBeHandedOver() async throws {
        let (failed, again) = try await withLaboratory { laboratory in
            let url = "\(laboratory.origin)/packs/7/manifest.json"
            let store = try laboratory.store()
            let refresher = laboratory.refresher(store)
            laboratory.handover.failure = Failure("full", party: .tool, "no room")
            let failed = await refresher.refresh(FeedRefresher.Request(url, at: 1))
            laboratory.handover.failure = nil
            let again = await refresher.refresh(FeedRefresher.Request(url, at: 2))
            return (failed, again)
        }
        #expect(failed.failure?.code == "full")
        #expect(again.items.count == 45)
    }

    /// A feed that cannot be kept is not fetched, nor are its files handed over; one that nobody asks
    /// for any more makes room.
    @Test func fetchesNothingThatCannotBeKept() async throws {
        let (failed, handed, kept) = try await withLaboratory { laboratory in
            let url = "\(laboratory.origin)/packs/7/manifest.json"
            let store = try laboratory.store()
            let others = (0..<RefreshStore.feedLimit).map { "http://h/\($0)" }
            for url in others { try store.commit(FeedState(url), [], aside: false) }
            store.configured = Set(others + [url])
            let refresher = laboratory.refresher(store)
            let failed = await refresher.refresh(FeedRefresher.Request(url, at: 1))
            let handed = laboratory.handover.assets.count
            store.configured = [url]
            return (
                failed, handed, await refresher.refresh(FeedRefresher.Request(url, at: 2))
            )
        }
        #expect(failed.failure?.code == "too-many-feeds")
        #expect(failed.bytes == 0)
        #expect(handed == 0)
        #expect(kept.items.count == 45)
    }

    /// What a server wants is kept in a full folder, too.
    @Test func heedsRetryAfterInAFullFolder() async throws {
        let reports = try await withLaboratory { laboratory in
            let url = "\(laboratory.origin)/feeds/json/news?steps=fail,new"
            let store = try laboratory.store()
            for number in 0..<RefreshStore.feedLimit {
                try store.commit(FeedState("http://h/\(number)"), [], aside: false)
            }
            store.configured = [url]
            let refresher = laboratory.refresher(store)
            var reports: [FeedReport] = []
            for now in [0, 999] as [Int64] {
                var request = FeedRefresher.Request(url, at: 1_780_000_000_000 + now)
                request.isInBackground = true
                reports.append(await refresher.refresh(request))
            }
            return reports
        }
        #expect(reports.map(\.status) == [503, nil])
    }

    /// Two at once would find the same things new.
    @Test func fetchesOneFeedOnceAtATime() async throws {
        let items = try await withLaboratory { laboratory in
            let url = "\(laboratory.origin)/feeds/json/news?steps=none"
            let store = try laboratory.store()
            let refresher = laboratory.refresher(store)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        _ = await refresher.refresh(FeedRefresher.Request(url, at: 1))
                    }
                }
            }
            return try RefreshStore.items(in: store.folder)
        }
        #expect(items.count == 10)
    }

    /// While the items' file is closed they go aside, and are merged once.
    @Test func mergesWhatCameWhileLocked() async throws {
        let counts = try await withLaboratory { laboratory in
            let url = "\(laboratory.origin)/feeds/json/news?steps=new"
            let store = try laboratory.store()
            let refresher = laboratory.refresher(store)
            func kept() throws -> [Int] {
                try ["items", "pending"].map { name in
                    try ItemFile.read("\(store.folder)/\(name).jsonl").count
                }
            }
            var counts: [Int] = []
            for aside in [false, true, true] {
                var request = FeedRefresher.Request(url, at: 1)
                request.usesSideBuffer = aside
                _ = await refresher.refresh(request)
                counts += try kept()
            }
            counts.append(try store.merge())
            counts.append(try store.merge())
            return try counts + kept()
        }
        #expect(counts == [11, 0, 11, 1, 11, 2, 2, 0, 13, 0])
    }

    /// What goes wrong on the way costs nothing but the try.
    @Test(arguments: [
        ("cut:100", "origin-closed"), ("status:500", "feed-status"),
        ("status:302", "feed-status"), ("status:304", "feed-status"),
    ])
    func failsCleanly(_ fault: String, _ code: String) async throws {
        let (report, state, after) = try await withLaboratory { laboratory in
            let store = try laboratory.store()
            let refresher = laboratory.refresher(store)
            let url = "\(laboratory.origin)/faults/\(fault)/feeds/json/news?steps=new"
            let report = await refresher.refresh(FeedRefresher.Request(url, at: 1))
            let good = "\(laboratory.origin)/feeds/json/news?steps=new"
            let after = await refresher.refresh(FeedRefresher.Request(good, at: 2))
            return (report, store.state(of: url), after)
        }
        #expect(report.failure?.code == code, "\(report)")
        #expect(report.result == .failed)
        #expect(state.known.isEmpty)
        #expect(after.result == .newData)
    }

    @Test(arguments: [
        "news", "ftp://localhost/", "http://", "http://user:secret@localhost/", "http://a b/",
        "http://localhost:0/", "http://localhost/\u{e9}",
    ])
    func refusesOtherURLs(_ url: String) async throws {
        let report = try await withLaboratory { laboratory in
            await laboratory.refresher(try laboratory.store()).refresh(
                FeedRefresher.Request(url, at: 1))
        }
        #expect(report.failure?.code == "url-invalid")
        #expect(report.failure?.detail.contains("secret") == false)
    }
}
